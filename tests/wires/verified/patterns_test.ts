import { newCheckBudget } from "../../../src/wires/verified/check_budget.ts";
import { newPatterns } from "../../../src/wires/verified/patterns.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const TOO_SLOW =
  "The patterns of the request take too long to compile; send fewer or simpler ones.";

Deno.test("a pattern that has no check is refused with the reason", () => {
  const slow =
    "It has a part that cannot be checked in linear time, such as a lookaround or back reference.";
  const cases: readonly (readonly [pattern: string, reason: string])[] = [
    ["a\\-b", "It is no pattern of ECMAScript with the flag 'u' (Invalid escape)."],
    ["a{b", "It is no pattern of ECMAScript with the flag 'u' (Incomplete quantifier)."],
    ["[\\w-z]", "It is no pattern of ECMAScript with the flag 'u' (Invalid character class)."],
    ["(", "It is no pattern of ECMAScript with the flag 'u' (Unterminated group)."],
    ["\\p{X: secret}", "It is no pattern of ECMAScript with the flag 'u' (Invalid property name)."],
    ["^(?!a)b", slow],
    ["(?<=a)b", slow],
    ["(a)\\1", slow],
    ["a".repeat(2_001), "It has more than 2000 characters."],
    ["((a{90}b){90}){90}", "It has more than 1000 states; use smaller repetitions."],
    ["(a{9999})".repeat(200), "It has more than 1000 states; use smaller repetitions."],
    [`(?:a{${"9".repeat(400)}}){0}`, "It has more than 1000 states; use smaller repetitions."],
    [`[${"\\p{L}".repeat(390)}]`, TOO_SLOW],
    [`[\\p{L}\\p{N}]{900}`, TOO_SLOW],
    [`^[${"aeiou".repeat(180)}]{900}$`, TOO_SLOW],
    [`(?i:[${"\\p{L}".repeat(40)}])`, TOO_SLOW],
    [`(?i:[${"B-\\u{1e900}".repeat(7)}])`, TOO_SLOW],
    [`(?i:[${"B-\u{1e900}".repeat(7)}])`, TOO_SLOW],
  ];
  for (const [pattern, reason] of cases) {
    assertEquals<unknown>(newPatterns().parse(pattern), reason);
  }
});

Deno.test("patterns of names and addresses in many scripts are compiled", () => {
  const patterns = newPatterns();
  for (
    const pattern of [
      "^[\\p{L}\\p{M}' -]{1,40}$",
      "^\\p{Lu}\\p{Ll}+$",
      "^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$",
    ]
  ) {
    assertEquals(typeof patterns.parse(pattern), "object", pattern);
  }
});

Deno.test("patterns with ranges that ignore case are compiled", () => {
  const patterns = newPatterns();
  for (const pattern of ["(?i:^[a-z0-9+/-]{1,40}[^a-z]$)", "(?i:^[a-z\\u00df-\\u00ff]+$)"]) {
    assertEquals(typeof patterns.parse(pattern), "object", pattern);
  }
});

Deno.test("the patterns of a request are refused once their classes take too long to compile", () => {
  const patterns = newPatterns();
  const parsed = Array.from({ length: 240 }, (_, at) => patterns.parse(`[\\p{L}\\p{N}${at}]`));
  const compiled = parsed.findIndex((one) => typeof one === "string");
  assert(compiled > 5 && compiled < 30, String(compiled));
  assertEquals(new Set(parsed.slice(compiled)), new Set([TOO_SLOW]));
});

Deno.test("a pattern that a request has many times is compiled once", () => {
  const patterns = newPatterns();
  const once = patterns.parse("^[\\p{L} ]{1,60}$");
  assertEquals(typeof once, "object");
  for (let count = 0; count < 100; count++) assert(patterns.parse("^[\\p{L} ]{1,60}$") === once);
});

Deno.test("a text is matched only if the remaining steps suffice for each of its characters", () => {
  const check = newPatterns().parse("[ab]*a[ab]{90}[cd]");
  assert(typeof check === "object");
  const budget = newCheckBudget();
  assert(check.matches(`${"a".repeat(95)}c`, budget));
  assert(budget.steps > 180_000 && budget.steps < 200_000, String(budget.steps));
  budget.steps = 5_000;
  assert(!check.matches(`${"a".repeat(95)}c`, budget));
  assert(budget.steps < 0);
});
