import fc from "fast-check";
import { RE2JS } from "re2js";
import { behindEscapes, newSearch, search } from "../../src/privacy/search.ts";
import type { Match, Rule } from "../../src/privacy/types.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { rulesOf } from "./rules.ts";

const MAIL = "jane.doe@example.com";

/** Pieces of texts of which rules find some, and some together with others. */
const WORDS = [
  MAIL,
  "a@b.example@c.example",
  "%40example.com",
  "+49 30 1234567",
  "415-555-0100",
  "(415) 555-0100",
  "4111 1111 1111 1111",
  "4111111111111111",
  "5500-0000-0000-0004",
  "1234",
  "123-45-6789",
  "DE89 3704 0044 0532 0130 00",
  "AKIAIOSFODNN7EXAMPLE",
  "ghp_EXAMPLENOTAREALGITHUBTOKEN0000000000",
  "xoxb-00000-00000-EXAMPLENOTAREALTOKEN",
  "https://bob:secret@host",
  "AccountKey=",
  "Blue  Falcon",
  "Falcon Nine",
  "staff ",
  "aaaaaaa",
  "b",
  " ",
  "\n",
  "-",
  "x".repeat(70),
] as const;

/** Rules of which a match may be longer at the border of a piece, where another one is in it. */
const DETECTORS =
  "find: [email, phone, card, iban, us_ssn, aws_key, github_token, slack_token, api_key], action: mask";

const EXACT = [
  "words: [Blue Falcon, Falcon Nine, falcon], action: refuse",
  "pattern: 'a+', max_length: 3, action: mask",
  "pattern: '[0-9]+', contains: [Nine], max_length: 3, action: mask",
  String.raw`pattern: '\b[a-z]{2,}\b', max_length: 4, action: monitor`,
  "pattern: 'staff .{0,900}?(?P<value>[0-9]{4})', max_length: 4, action: refuse",
  "pattern: '[0-9]{3,}', max_length: 16, check: luhn, action: monitor",
];

function matchesOf(text: string, rules: readonly Rule[], pieceChars: number) {
  const search = newSearch(text, rules, { pieceChars });
  while (search.next()) { /* the whole text */ }
  return search.matches();
}

/** Returns a text in which each character of a match is a line. */
function masked(text: string, matches: readonly Match[]): string {
  return [...text].map((char, at) =>
    matches.some(({ start, end }) => at >= start && at < end) ? "_" : char
  ).join("");
}

const anyText = fc.array(fc.constantFrom(...WORDS), { maxLength: 60 })
  .map((words) => words.join(""));

Deno.test("what a rule finds in a whole text it finds wherever the borders of pieces are", () => {
  for (const rule of EXACT) {
    const rules = rulesOf(rule);
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 700 }), (text, pieceChars) => {
        const whole = matchesOf(text, rules, Infinity);
        assertEquals(matchesOf(text, rules, pieceChars), whole, rule);
      }),
      { numRuns: 200 },
    );
  }
  const rules = rulesOf(DETECTORS);
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 700 }), (text, pieceChars) => {
      const left = masked(text, matchesOf(text, rules, pieceChars));
      assertEquals(masked(left, matchesOf(text, rules, Infinity)), left);
    }),
    { numRuns: 500, examples: [[`${MAIL}ghp_${"x1".repeat(18)}${MAIL}`, 1]] },
  );
});

Deno.test("a pattern finds the same matches as a search of the whole text by its engine", () => {
  const patterns = [
    "[A-Za-z]{3,}",
    String.raw`\b[A-Za-z0-9.]+\b`,
    "[0-9]{4}$",
    "(?m)^[a-z]+",
    "a+b",
  ];
  fc.assert(
    fc.property(fc.constantFrom(...patterns), anyText, (pattern, text) => {
      const found = matchesOf(
        text,
        rulesOf(`pattern: '${pattern}', max_length: 1024, action: mask`),
        64,
      );
      const matcher = RE2JS.compile(pattern).matcher(text);
      const whole: string[] = [];
      while (matcher.find()) whole.push(matcher.group() ?? "");
      assertEquals(found.map(({ start, end }) => text.slice(start, end)), whole);
    }),
    { numRuns: 500 },
  );
});

Deno.test("matches in a long run of backslashes are put behind its escapes, and each sign is read a few times", () => {
  const text = "\\".repeat(20_001) + "n.";
  const [rule] = rulesOf(String.raw`pattern: '\S+', action: mask, max_length: 7`);
  assert(rule !== undefined);
  const matches = search(text, [rule]);
  const { charCodeAt } = String.prototype;
  let reads = 0;
  String.prototype.charCodeAt = function (at) {
    reads++;
    return charCodeAt.call(this, at);
  };
  let moved: ReturnType<typeof behindEscapes> = [];
  try {
    moved = behindEscapes(text, matches);
  } finally {
    String.prototype.charCodeAt = charCodeAt;
  }
  assert(matches.length > 2_000);
  assert(moved.every(({ start, end }) => start % 2 === 0 && (end % 2 === 0 || end >= 20_002)));
  assert(reads < 5 * text.length);
});
