import fc from "fast-check";
import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { newJsonScan, scanJson } from "../../src/formats/json_scan.ts";
import {
  areTooLarge,
  isJsonObject,
  MAX_PARSE_STEPS,
  MAX_UNSCANNED_CHARS,
} from "../../src/formats/parse_limits.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { objectTextsWithRepeatedKeys, valueTexts } from "./json_texts.ts";

const encoder = new TextEncoder();
const PIECE_BYTES = 256 * 1024;
const NEEDED = ["a", "b", "ab", "usage", ""];

function scanned(text: string, needed: readonly string[] = [], maxSteps = Infinity) {
  const scan = newJsonScan(encoder.encode(text), { maxSteps, needed });
  let pieces = 1;
  for (; !scan.next(); pieces++);
  return { problem: scan.problem(), outline: scan.outline(), steps: scan.steps(), pieces };
}

/** Returns what an outline has of a parsed object. */
function outlined(value: JsonObject) {
  const found = NEEDED.filter((name) => Object.hasOwn(value, name));
  const arrays = found.map((name) => [name, value[name]] as const);
  return {
    value: Object.fromEntries(
      arrays.map(([name, one]) => [name, Array.isArray(one) ? one.slice(-1) : one]),
    ),
    lengths: Object.fromEntries(
      arrays.flatMap(([name, one]) => Array.isArray(one) ? [[name, one.length]] : []),
    ),
  };
}

Deno.test("a scan accepts exactly the texts that are JSON", () => {
  const added = ["", ",", '"', "}", "]", "\\", "1", "-", ".", "e", "t", "\n", " ", "\u0001"];
  // A text costs far more to draw than to scan, so each one is broken in all of these ways.
  fc.assert(
    fc.property(valueTexts, fc.nat(), (text, start) => {
      const broken = added.map((one, at) => {
        const place = (start + at * 7_919) % (text.length + 1);
        return text.slice(0, place) + one + text.slice(place + ((start >> at) & 1));
      });
      for (const one of [text, ...broken]) {
        const whole = one.toWellFormed();
        assertEquals(scanned(whole).problem === null, parseJson(whole) !== undefined, whole);
      }
    }),
    { numRuns: 1_000 },
  );
  for (
    const text of [
      "",
      " ",
      "nul",
      "01",
      "-",
      "1.",
      "1e",
      "+1",
      "[1,]",
      '{"a"}',
      '{"a":1,}',
      "[}",
      '"\\x"',
      '"\\u12g4"',
      '"',
      "1 1",
      "\ufeff1",
      '"\t"',
      '{"\t":1}',
    ]
  ) {
    assertEquals(scanned(text).problem, "invalid", text);
  }
});

Deno.test("an outline has the needed members as parsing reads them, of an array its length and last element", () => {
  fc.assert(
    fc.property(objectTextsWithRepeatedKeys, (text) => {
      const whole = text.toWellFormed();
      const value = parseJson(whole);
      assert(isObject(value));
      const outline = scanned(whole, NEEDED).outline;
      const lengths = Object.fromEntries(outline?.lengths ?? []);
      assertEquals({ value: { ...outline?.value }, lengths }, outlined(value), whole);
    }),
    { numRuns: 1_500 },
  );
  assertEquals(scanned('{"\\u0061":[1,[2,{"a":3}]]}', NEEDED).outline?.value, {
    a: [[2, { a: 3 }]],
  });
  assertEquals(scanned("[1]", NEEDED).outline, null, "no object");
  const notText = newJsonScan(new Uint8Array([...encoder.encode('{"a":"'), 0xff, 34, 125]), {
    maxSteps: Infinity,
  });
  while (!notText.next());
  assertEquals([notText.problem(), notText.outline()], [null, null], "no UTF-8");
});

Deno.test("a large member is left out of an outline, and a large error is still an error", () => {
  const long = "x".repeat(70_000);
  const text = JSON.stringify({ usage: { input_tokens: 1 }, a: long, b: { long }, ab: [1, long] });
  const { outline } = scanned(text, NEEDED);
  assertEquals(outline?.value, { usage: { input_tokens: 1 }, a: undefined, b: {}, ab: [] });
  assertEquals(outline?.lengths.get("ab"), 2);
});

Deno.test("a scan reads a text in pieces, whatever the end of a piece cuts", async () => {
  const rest = '\\u0041\\n","b\\u0063":[1.5e3,true,{"k":"v"}], "a":"é"}';
  for (let cut = 0; cut <= rest.length; cut++) {
    const text = `{"long":"${"x".repeat(PIECE_BYTES - 9 - cut)}${rest}`;
    const { problem, outline, pieces } = scanned(text, ["a", "bc"]);
    assertEquals([problem, pieces], [null, 2], String(cut));
    assertEquals(outline?.value, { a: "é", bc: [{ k: "v" }] });
    assertEquals(outline?.lengths.get("bc"), 3);
  }
  let turns = 0;
  const long = encoder.encode(`"${"x".repeat(40 * PIECE_BYTES - 2)}"`);
  const scan = await scanJson(long, { maxSteps: 10 }, () => {
    turns += 1;
    return turns % 2 === 0 ? null : Promise.resolve();
  });
  assertEquals([scan.problem(), turns], [null, 40]);
});

Deno.test("steps count what parsing costs: a new key more than a value, and a known one less", () => {
  assertEquals(scanned("[1,true,-1.5e3]").steps, 4 + 3);
  assertEquals(scanned('["a",[],{}]').steps, 4 + 4 + 4 + 4);
  assertEquals(scanned('{"a":1}').steps, 4 + 30 + 1);
  assertEquals(scanned('[{"a":1},{"a":1}]').steps, 4 + (4 + 30 + 1) + (4 + 1 + 1));
  // The same keys in another order make another kind of object.
  const same = '{"a":1,"b":2}';
  const steps = scanned(`[${same},${same}]`).steps;
  assertEquals(scanned(`[${same},{"b":2,"a":1}]`).steps, steps + 2 * 29);
  assertEquals(scanned('[{"34":1},{"34":1}]').steps, 4 + (4 + 30 + 1) + (4 + 15 + 1));
  assertEquals(scanned('[{"\\u0061":1},{"\\u0061":1}]').steps, 4 + 2 * (4 + 100 + 1));
});

Deno.test("names with escapes are compared with needed ones, of the first 10,000 members only", () => {
  const text = (count: number) => `{${'"\\u0061b":1,'.repeat(count)}"u\\u0073age":2}`;
  assertEquals(scanned(text(9_999), ["usage"]).outline?.value, { usage: 2 });
  assertEquals(scanned(text(10_000), ["usage"]).problem, "too_large");
});

Deno.test("keys of other objects in between do not make a key new again", () => {
  const one = '{"token":"a","logprob":-0.5,"bytes":[97]}';
  const count = 10_000;
  const { steps } = scanned(`[${Array(count).fill(one).join(",")}]`);
  assert(steps < 25 * count, String(steps));
});

/** Texts whose parsing costs most for their length. */
const COSTLY: Readonly<Record<string, (count: number) => string>> = {
  "empty arrays": (count) => `[${Array(count).fill("[]").join(",")}]`,
  "empty objects": (count) => `[${Array(count).fill("{}").join(",")}]`,
  "strings": (count) => `[${Array(count).fill('""').join(",")}]`,
  "nested objects": (count) =>
    `[${Array(count / 100).fill(`${'{"a":'.repeat(100)}1${"}".repeat(100)}`).join(",")}]`,
  "distinct keys": (count) =>
    `{${Array.from({ length: count / 10 }, (_, index) => `"${index}k":0`).join(",")}}`,
};

Deno.test("a text above 64 KiB may take 2,000,000 steps of parsing", () => {
  const kib = 1024;
  assertEquals([MAX_UNSCANNED_CHARS, MAX_PARSE_STEPS], [64 * kib, 2_000_000]);
  const numbers = (count: number) => `[${Array(count).fill("1").join(",")}]`;
  assertEquals(areTooLarge([numbers(1_999_996)]), false);
  assertEquals(areTooLarge([numbers(1_999_997)]), true);
});

Deno.test("a text is too large to be parsed by its members, however short it is", () => {
  for (const [name, make] of Object.entries(COSTLY)) {
    const text = make(800_000);
    assertEquals(scanned(text, [], MAX_PARSE_STEPS).problem, "too_large", name);
    assertEquals(areTooLarge([text]), true, name);
    assertEquals(areTooLarge([make(100_000)]), false, name);
    assertEquals(areTooLarge(Array(10).fill(make(100_000))), true, `${name}, together`);
  }
  assertEquals(areTooLarge(["{", "x".repeat(100_000)]), false, "no JSON");
});

Deno.test("more than 500 levels are too large", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  assertEquals(scanned(nested(500)).problem, null);
  assertEquals(scanned(nested(501)).problem, "too_large");
  assertEquals(scanned("[".repeat(10_000_000)).problem, "too_large");
});

Deno.test("a scan that a problem ends has the needed members and the strings before it", () => {
  const scan = newJsonScan(
    encoder.encode(String.raw`{"a":{"x":1},"no":"12\n\u20ac","b":{"c":["34","5`),
    { maxSteps: Infinity, needed: NEEDED },
  );
  while (!scan.next());
  assertEquals([scan.problem(), scan.outline(), scan.member("ab")], ["invalid", null, null]);
  const member = (name: string) => new TextDecoder().decode(scan.member(name) ?? undefined);
  assertEquals([member("a"), member("b")], ['{"x":1}', '{"c":["34","5']);
  assertEquals(scan.stringBytes(), 9);
});

Deno.test("a long text is an object only if it may be parsed", () => {
  const filler = `"x":"${"x".repeat(70_000)}"`;
  assertEquals(isJsonObject(`{${filler}}`), true);
  assertEquals(isJsonObject(`{${filler}`), false);
  assertEquals(isJsonObject(`[{${filler}}]`), false);
  assertEquals(isJsonObject(`{"a":${COSTLY["empty arrays"]?.(800_000)}}`), false);
});
