import fc from "fast-check";
import { hasEscapedKey } from "../../../src/core/json/escaped_keys.ts";
import { isObject, type JsonValue, parseExact, parseJson } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";

function keysOf(text: string): readonly string[] {
  const value = parseJson(text);
  return isObject(value) ? Object.keys(value) : [];
}

Deno.test("no key changes how another key is parsed, in the same text or a later one", () => {
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

Deno.test("only an escape in a key counts as an escaped key", () => {
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

Deno.test("an escaped key is found in any text, and only there", () => {
  const piece = fc.constantFrom("\n", '"', "\\", ":", " ", "a", ",", "{", "\\\\", '":', '"}');
  const string = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      string,
      fc.array(tie("value"), { maxLength: 4 }),
      fc.array(fc.tuple(string, tie("value")), { maxLength: 4 }).map(Object.fromEntries),
    ),
  })).value;
  const blank = fc.constantFrom("", " ", "\n\t", "  ");
  fc.assert(fc.property(value, blank, (made, blanks) => {
    let isEscaped = false;
    JSON.stringify(made, (key, item) => {
      isEscaped ||= JSON.stringify(key).includes("\\");
      return item;
    });
    const written = write(made, blanks);
    assertEquals(hasEscapedKey(written), isEscaped, written);
  }));
});

/** The JSON text of strings, arrays and objects with these blanks around each token. */
function write(value: unknown, blanks: string): string {
  if (typeof value === "string") return blanks + JSON.stringify(value) + blanks;
  if (Array.isArray(value)) return `[${value.map((item) => write(item, blanks)).join(",")}]`;
  const members = Object.entries(value ?? {});
  return `{${members.map(([key, item]) => write(key, blanks) + ":" + write(item, blanks))}}`;
}

Deno.test("values next to an escaped key are parsed as usual", () => {
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

Deno.test("nested values next to an escaped key are parsed to any depth", () => {
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

/**
 * Few characters, so that keys are often alike: some must be escaped, some may be. Digits are
 * array indexes, which an object orders differently.
 */
const words = fc.array(
  fc.tuple(
    fc.constantFrom("\\", "\\", "\n", "\b", "b", "n", '"', "é", "𹡂", "1", "0", "__proto__"),
    fc.boolean(),
  ),
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
    fc.constantFrom("1.0", "-0", "1e400", "12345678901234567890").map((text) => ({
      value: JSON.rawJSON(text),
      text,
    })),
    fc.array(fc.tuple(words, tie("written")), { maxLength: 4 }).map((members) => ({
      value: Object.fromEntries(members.map(([key, { value }]) => [key.value, value])),
      text: `{${members.map(([key, { text }]) => `${key.text} : ${text}`).join()}}`,
    })),
  ),
}));

/** A key with an escape, as the characters before and the escape. */
const misreadable = fc.record({
  before: fc.constantFrom("", "b", "né", "12"),
  escape: fc.constantFrom("\\n", "\\\\", "\\u0061", "\\u0037"),
});

Deno.test("a JSON text is parsed to the value that it was written from, whatever was parsed before", () => {
  let places = 0;
  let misread = 0;
  fc.assert(
    fc.property(misreadable, written, written, ({ before, escape }, one, other) => {
      /** Reads the text in a place where the engine knows one key, as long as the one to come. */
      function readIn(read: (text: string) => unknown): string {
        const first = `first ${places++}`;
        // As long as this object is there, the engine remembers.
        const known = JSON.parse(`{"${first}":0,"${before}\\\\":0}`);
        const value = read(`[{"${first}":${one.text},"${before}${escape}":${other.text}},7]`);
        assertEquals(Object.keys(known), [first, `${before}\\`]);
        return JSON.stringify(value).replace(first, "first");
      }
      const plain = readIn(parseJson);
      if (readIn(JSON.parse) !== plain) misread++;
      const key = String(JSON.parse(`"${before}${escape}"`));
      const value = [Object.fromEntries([["first", one.value], [key, other.value]]), 7];
      // As text, so that the order of the members counts as well.
      assertEquals(readIn(parseExact), JSON.stringify(value));
      assertEquals(plain, JSON.stringify(value, plainNumber));
    }),
    { numRuns: 400 },
  );
  // If the engine misreads none of these keys, it is fixed and `mendEscapedKeys` can be removed.
  assert(misread > 0);
});

Deno.test("a JSON text of any structure is parsed to the value that it was written from", () => {
  fc.assert(
    fc.property(written, ({ value, text }) => {
      assertEquals(JSON.stringify(parseExact(text)), JSON.stringify(value));
      assertEquals(JSON.stringify(parseJson(text)), JSON.stringify(value, plainNumber));
    }),
    { numRuns: 800 },
  );
});

/** A number that keeps its text, as JavaScript understands it. */
function plainNumber(_key: string, item: unknown): unknown {
  return JSON.isRawJSON(item) ? Number(item.rawJSON) : item;
}

Deno.test("an object in which the engine merged two keys is parsed again with its contents", () => {
  for (const [index, read] of [parseJson, parseExact].entries()) {
    const first = `lost ${index}`;
    const known = JSON.parse(`{"${first}":0,"k\\\\":0}`);
    const inner = `{"${first}":[1,{"k\\n":"e"}],"k\\n":{"b\\t":[]},"k\\\\":{"k\\n":0}}`;
    const text = `[{"${first}":0,"k\\n":${inner},"k\\n":[${inner}]},${inner}]`;
    const last = `{"${first}":0,"k\\n":[${inner}]}`;
    assertEquals(JSON.stringify(read(text)), `[${last},${inner}]`);
    assertEquals(Object.keys(known).length, 2);
  }
});

// Work that grew faster than the text would take minutes here.
Deno.test("one escaped key next to 150,000 elements or 100,000 members is read as JSON has it", () => {
  const list = Array.from({ length: 150_000 }, () => []);
  const members = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, at]));
  for (const rest of [list, members]) {
    const read = parseJson(`{"\\u0061bc":1,"rest":${JSON.stringify(rest)}}`);
    assert(isObject(read));
    assertEquals([Object.keys(read), read.abc], [["abc", "rest"], 1]);
    assertEquals(JSON.stringify(read.rest), JSON.stringify(rest));
  }
});
