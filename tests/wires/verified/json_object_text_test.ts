import fc from "fast-check";
import { isObject, parseJson } from "../../../src/core/json/json.ts";
import { newJsonObjectText } from "../../../src/wires/verified/json_object_text.ts";
import { assert, assertEquals } from "../../support/assert.ts";

/** True if a text is read as one whole object when it arrives in pieces of this size. */
function isWhole(text: string, size: number): boolean {
  const reading = newJsonObjectText();
  for (let at = 0; at < text.length; at += size) {
    if (!reading.add(text.slice(at, at + size))) return false;
  }
  return reading.isWhole();
}

function isObjectText(text: string): boolean {
  return isObject(parseJson(text));
}

Deno.test("any JSON text is whole only if it is an object, in pieces of any size", () => {
  fc.assert(fc.property(fc.json(), fc.integer({ min: 1, max: 9 }), (text, size) => {
    assertEquals(isWhole(text, size), isObjectText(text));
    assertEquals(isWhole(`\n {"a": ${text} }\t`, size), true);
  }));
});

Deno.test("a JSON object with one character changed is whole only if it is still an object", () => {
  const marks = fc.constantFrom(...'{}[]",:\\ue0-+.9tfn \n\u0001x');
  fc.assert(
    fc.property(fc.object(), fc.nat(), marks, (value, at, mark) => {
      const text = JSON.stringify(value);
      const changed = text.slice(0, at % text.length) + mark + text.slice(at % text.length + 1);
      assertEquals(isWhole(changed, 3), isObjectText(changed), changed);
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("every number and escape of JSON is read, and no other", () => {
  for (
    const value of [
      "0",
      "-0",
      "10",
      "1.5",
      "1e3",
      "1E+3",
      "-1.25e-10",
      '"\\u00e9\\n\\/"',
      "true",
      "null",
    ]
  ) {
    assert(isWhole(`{"a":${value}}`, 1), value);
  }
  for (
    const value of [
      "01",
      "+1",
      ".5",
      "1.",
      "1e",
      "-",
      '"\\x"',
      '"\\u12g4"',
      "tru",
      "nul",
      "'a'",
      "NaN",
    ]
  ) {
    assert(!isWhole(`{"a":${value}}`, 1), value);
  }
});
