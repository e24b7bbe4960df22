import { RE2JS } from "re2js";
import { newPrivacyCounts } from "../../src/core/privacy_counts.ts";
import { newRuleText } from "../../src/privacy/answer_text.ts";
import { newSearch } from "../../src/privacy/search.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { rulesOf, valuesOf } from "./rules.ts";

Deno.test("a pattern finds each of its matches, also at the borders of pieces", () => {
  const badge = "pattern: 'B-[0-9]{6}', max_length: 8, action: mask";
  assertEquals(valuesOf("B-123456 B-654321", badge), ["B-123456", "B-654321"]);
  for (const before of [65_528, 65_530, 65_535, 65_536]) {
    assertEquals(valuesOf(`${" ".repeat(before)}B-123456`, badge), ["B-123456"]);
  }
});

Deno.test("boundaries of words hold at the borders of pieces", () => {
  const badge = String.raw`pattern: '\bB[0-9]+', action: mask`;
  assertEquals(valuesOf(`${"x".repeat(65_536)}B12 B34`, badge), ["B34"]);
});

Deno.test("a longer match counts to max_length", () => {
  assertEquals(valuesOf("aaaaaaa", "pattern: 'a+', max_length: 3, action: mask"), [
    "aaa",
    "aaa",
    "a",
  ]);
});

Deno.test("a longer match ends before a character of two halves that its limit would cut", () => {
  const rule = (chars: number) => `pattern: 'a.+', max_length: ${chars}, action: mask`;
  assertEquals(valuesOf("ab😀c", rule(3)), ["ab"]);
  assertEquals(valuesOf("ab😀c", rule(4)), ["ab😀"]);
  assertEquals(valuesOf("😀😀", "pattern: '.+', max_length: 3, action: mask"), ["😀", "😀"]);
});

Deno.test("of a pattern with a group value only that part counts", () => {
  const staff = "pattern: 'staff (?P<value>[0-9]{4})', action: mask";
  assertEquals(valuesOf("staff 1234, 5678", staff), ["1234"]);
});

Deno.test("contains looks at the whole string, however long it is", () => {
  const badge = "pattern: '[0-9]{6}', contains: [badge], action: mask";
  assertEquals(valuesOf(`123456 ${" ".repeat(200_000)} badge 654321`, badge), ["123456", "654321"]);
  assertEquals(valuesOf("123456", badge), []);
});

Deno.test("checks of digits accept examples and refuse each other digit", () => {
  const examples = {
    luhn: "79927398713",
    mod97: "3214282912345698765432161182",
    mod11: "0306406152",
    verhoeff: "2363",
  };
  for (const [check, number] of Object.entries(examples)) {
    const rule = `pattern: '[0-9X]+', check: ${check}, action: mask`;
    assertEquals(valuesOf(number, rule), [number], check);
    for (let at = 0; at < number.length; at++) {
      const other = (Number(number[at]) + 1) % 10;
      assertEquals(valuesOf(number.slice(0, at) + other + number.slice(at + 1), rule), [], check);
    }
  }
});

Deno.test("excepted values are no match", () => {
  const mail = "find: [email], except: [noreply@example.com], action: mask";
  assertEquals(valuesOf("noreply@example.com a@example.com", mail), ["a@example.com"]);
});

/** Calls `run`; returns the characters that it has given to each search of a pattern. */
function readBy(run: () => void): number[] {
  const read: number[] = [];
  const { matcher } = RE2JS.prototype;
  RE2JS.prototype.matcher = function (this: RE2JS, text: string) {
    const created = matcher.call(this, text);
    const find = created.find.bind(created);
    created.find = (start) => {
      read.push(text.length - (start ?? 0));
      return find(start);
    };
    return created;
  };
  try {
    run();
  } finally {
    RE2JS.prototype.matcher = matcher;
  }
  return read;
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

/** Rules of which a long text has many matches, each longer than it may be. */
const LONG_RUNS = [
  "pattern: '[A-Za-z0-9+/=]{40,}', action: mask",
  "pattern: '[A-Za-z0-9+/=]{40,}', contains: [Ab], action: mask",
  "pattern: '(?P<value>[A-Za-z0-9+/=]{40,})', action: mask",
  "pattern: '[A-Za-z0-9+/=]{40,}', phase: response, contains: [Ab], action: mask",
];

Deno.test("a pattern reads a long run a few times at most, in short steps", () => {
  for (const rule of LONG_RUNS) {
    const [short, long] = [16_384, 65_536].map((count) => {
      const text = "Ab12".repeat(count);
      const pieces = newSearch(text, rulesOf(rule));
      const steps: number[] = [];
      for (let isDone = false; !isDone;) {
        steps.push(sum(readBy(() => void (isDone = !pieces.next()))));
      }
      assertEquals(pieces.matches().length, text.length / 64);
      assert(Math.max(...steps) < 10_000, `${Math.max(...steps)} characters in one step`);
      return sum(steps);
    });
    assert(short !== undefined && long !== undefined && long < 4.1 * short);
    assert(long < 5 * 4 * 65_536, `${long} characters read`);
  }
});

Deno.test("a stream reads a long run a few times at most", () => {
  const contained =
    "pattern: '[A-Za-z0-9+/=]{40,}', contains: [never], action: mask, phase: response";
  for (const rule of ["pattern: '[A-Za-z0-9+/=]{40,}', phase: response, action: mask", contained]) {
    const answer = newRuleText(rulesOf(rule), newPrivacyCounts()).inStream();
    const text = "Ab12".repeat(8_192);
    const read = readBy(() => {
      answer.heldFrom(text, "plain");
      answer.parts(text, "plain");
    });
    assert(sum(read) < 5 * text.length, `${sum(read)} characters read`);
  }
});

Deno.test("a pattern sees 1,024 characters more than a match may have, before its value too", () => {
  const staff = "pattern: 'staff[^0-9]*(?P<value>[0-9]{4})', max_length: 4, action: mask";
  for (const start of [32_767, 32_700, 32_000]) {
    const text = `${"x ".repeat(20_000).slice(0, start)}staff${"-".repeat(1_024 - 5)}1234, 5678`;
    assertEquals(valuesOf(text, staff), ["1234"], `at ${start}`);
  }
});
