import fc from "fast-check";
import { parseJson } from "../../src/core/json/json.ts";
import { canonicalJson } from "../../src/formats/canonical.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("white space, the order of keys and needless escapes do not matter", () => {
  const texts: readonly string[] = [
    String.raw`{"b":[1,{"d":null,"c":"é/"}],"a":{}}`,
    String.raw` { "a" : { } ,` + "\r\n\t" +
    String.raw`"b" : [ 1 , { "c" : "\u00e9\/", "d" : null } ] } `,
    String.raw`{"\u0061":{},"b":[1,{"c":"é/","d":null}]}`,
  ];
  for (const text of texts) {
    assertEquals(canonicalJson(text), String.raw`{"a":{},"b":[1,{"c":"é/","d":null}]}`);
  }
});

Deno.test("texts that two parsers could distinguish have different canonical forms", () => {
  const different: readonly (readonly [string, string])[] = [
    ["1", "1.0"],
    ["100", "1e2"],
    ["12345678901234567890", "12345678901234567891"],
    ["[1,2]", "[2,1]"],
    ['"1"', "1"],
    ['{"a":null}', "{}"],
    ["[]", "{}"],
    ["[[]]", "[]"],
    ["[[],1]", "[[1]]"],
    ['["a,b"]', '["a","b"]'],
    ['{"a":{"b":1}}', '{"a":{},"b":1}'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"a":1,"a":2}', '{"a":2,"a":1}'],
    ['"A"', '"a"'],
    [String.raw`"\n"`, String.raw`"\\n"`],
    [String.raw`"\ud800"`, String.raw`"\ufffd"`],
    ['{"__proto__":1}', "{}"],
  ];
  for (const [one, other] of different) {
    assert(canonicalJson(one) !== canonicalJson(other), `${one} and ${other}`);
  }
});

Deno.test("a canonical text is returned unchanged", () => {
  for (const text of ["0", "-1.50", "true", "null", '""', "[]", "{}", '"x\u2028"']) {
    assertEquals(canonicalJson(` ${text} `), text);
  }
});

Deno.test("a text nested deeper than any usual request has no canonical form", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assertEquals(canonicalJson(nested(1_000)), nested(1_000));
  assertEquals(canonicalJson(nested(1_001)), null);
  assertEquals(canonicalJson(nested(1_000_000)), null);
});

Deno.test("a body of at most 10,000 members or 100,000 elements has a canonical form, together with a copy", () => {
  const both = (body: string) => canonicalJson(`[${body},${body}]`);
  const members = (count: number) =>
    `{${Array.from({ length: count }, (_, at) => `"${10_000 + at}":1`).join(",")}}`;
  // The two bodies are elements too.
  const elements = (count: number) => `[${"1,".repeat(count - 1)}1]`;
  assertEquals(canonicalJson(members(20_000))?.length, members(20_000).length);
  assertEquals(canonicalJson(members(20_001)), null);
  assert(both(members(9_999)) !== null);
  assertEquals(both(members(10_000)), null);
  assert(both(elements(99_999)) !== null);
  assertEquals(both(elements(100_000)), null);
});

/** The same value with the members of all objects in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).toReversed().map(([key, inner]) => [key, reversed(inner)]),
  );
}

Deno.test("all texts of one value have one canonical form, which parses to that value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 1, "\t"), (value, gap) => {
      const form = canonicalJson(JSON.stringify(value));
      assertEquals(canonicalJson(JSON.stringify(reversed(value), null, gap)), form);
      assert(form !== null);
      assertEquals(JSON.stringify(parseJson(form)).length, JSON.stringify(value).length);
      assertEquals<unknown>(parseJson(form), parseJson(JSON.stringify(value)));
      assertEquals(canonicalJson(form), form);
    }),
  );
});
