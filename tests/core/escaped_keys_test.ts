import fc from "fast-check";
import { hasEscapedKey } from "../../src/core/escaped_keys.ts";
import { isObject, type JsonValue, parseExact, parseJson } from "../../src/core/json.ts";
import { assertEquals } from "../support/assert.ts";

function keysOf(text: string): readonly string[] {
  const value = parseJson(text);
  return isObject(value) ? Object.keys(value) : [];
}

Deno.test("no key changes how another one is read in its place, in this text or a later one", () => {
  const cases: readonly (readonly [earlier: string, later: string])[] = [
    ["\\", "é"],
    ["a\\", "a\n"],
    ["é\\", "éc"],
    ["a\\\\", "a\\c"],
    ["\\b", "\bd"],
  ];
  for (const [index, [earlier, later]] of cases.entries()) {
    const first = `first ${index}`;
    const made: JsonValue = Object.fromEntries([[first, 1], [earlier, 1]]);
    for (const text of [JSON.stringify(made), `{"${first}":1,"${unicode(earlier)}":1}`]) {
      assertEquals(keysOf(text), [first, earlier]);
    }
    const shortest = JSON.stringify({ [first]: 1, [later]: 1 });
    for (const text of [shortest, `{"${first}":1,"${unicode(later)}":1}`]) {
      assertEquals(keysOf(text), [first, later]);
    }
  }
});

/** Every character as an escape. */
function unicode(text: string): string {
  return text.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

Deno.test("an escape counts in a key and nowhere else", () => {
  for (const text of ['{"\\n":1}', '{"a":[{"b\\\\" \n:1}]}', '{"a\\"":1}', '{"\\u0061b":1}']) {
    assertEquals(hasEscapedKey(text), true, text);
  }
  for (
    const text of [
      '{"a":"\\\\"}',
      '["\\n",":"]',
      '{"a":"\\\\\\": 1"}',
      '{"a":"{\\"b\\":1}"}',
      '{"a":"\\"","b":1}',
      '"\\n"',
    ]
  ) {
    assertEquals(hasEscapedKey(text), false, text);
  }
});

Deno.test("beside an escaped key everything is read as ever", () => {
  const text = ' {"\\u0061" : [ ] ,\t"b":{ },"__proto__":[{"c":null}, true,false ,-1.50e1, "x\\n"' +
    '],"a":{"":0}, "10":1 } ';
  const read = parseJson(text);
  assertEquals(
    JSON.stringify(read),
    '{"10":1,"a":{"":0},"b":{},"__proto__":[{"c":null},true,false,-15,"x\\n"]}',
  );
  assertEquals(
    JSON.stringify(parseExact('{"\\n":[1.0,-0,12,1e400,12345678901234567890]}')),
    '{"\\n":[1.0,-0,12,1e400,12345678901234567890]}',
  );
  for (const wrong of ['{"\\n":1', '{"\\n":1}}', '{"\\q":1}', '{"\\n":01}', '{"\\n":1,}']) {
    assertEquals([parseJson(wrong), parseExact(wrong)], [undefined, undefined], wrong);
  }
});

Deno.test("nesting is read to any depth beside an escaped key", () => {
  const levels = 200_000;
  const text = `${'{"\\n":['.repeat(levels)}${"]}".repeat(levels)}`;
  let value = parseJson(text);
  let depth = 0;
  while (isObject(value)) {
    const list: JsonValue | undefined = value["\n"];
    value = Array.isArray(list) ? list[0] : undefined;
    depth++;
  }
  assertEquals(depth, levels);
});

/** Few characters, so that keys are often alike: some must be escaped, the others may be. */
const words = fc.array(
  fc.tuple(fc.constantFrom("\\", "\n", "\b", "b", "n", '"', "é", "𹡂"), fc.boolean()),
  { maxLength: 4 },
).map((parts) => {
  const text = parts.map(([character, isEscaped]) =>
    isEscaped ? unicode(character) : JSON.stringify(character).slice(1, -1)
  );
  return { value: parts.map(([character]) => character).join(""), text: `"${text.join("")}"` };
});

/** A value and a text of it. */
const { written } = fc.letrec<{ written: { value: JsonValue; text: string } }>((tie) => ({
  written: fc.oneof(
    { depthSize: "small" },
    words,
    fc.integer().map((value) => ({ value, text: String(value) })),
    fc.array(tie("written"), { maxLength: 3 }).map((items) => ({
      value: items.map(({ value }) => value),
      text: `[${items.map(({ text }) => text).join(" , ")}]`,
    })),
    fc.array(fc.tuple(words, tie("written")), { maxLength: 4 }).map((members) => ({
      value: Object.fromEntries(members.map(([key, { value }]) => [key.value, value])),
      text: `{${members.map(([key, { text }]) => `${key.text} : ${text}`).join()}}`,
    })),
  ),
}));

Deno.test("a text gives the value that it was written for, whatever was read before", () => {
  fc.assert(
    fc.property(written, ({ value, text }) => {
      assertEquals<unknown>([parseJson(text), parseExact(text)], [value, value]);
    }),
    { numRuns: 2_000 },
  );
});
