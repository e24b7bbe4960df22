import { newSchemaBudget, rewriteSchema } from "../../../src/wires/compat/rewrite_schema.ts";
import { newNumberReader } from "../../../src/wires/compat/text_enums.ts";
import { parseExact } from "../../../src/core/json/json.ts";
import { isObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const SCHEMA = parseExact(`{
  "type": "object",
  "properties": {
    "n": {"type": "integer", "enum": [1, 20, 1.0]},
    "t": {"type": "string"},
    "list": {"type": "array", "items": {"enum": [0.5, "x"]}},
    "one": {"anyOf": [{"type": "string", "enum": ["1"]}, {"type": "number", "enum": [1, 2]}]},
    "in": {"type": "object", "properties": {"n\\u00e9": {"const": 7}}}
  }
}`);
assert(isObject(SCHEMA));
const NUMBERS = rewriteSchema(SCHEMA, newSchemaBudget());

/** The arguments of the host, and what the client gets. */
const CASES: readonly (readonly [what: string, host: string, client: string])[] = [
  ["numbers at their places", '{"n":"20","t":"20"}', '{"n":20,"t":"20"}'],
  ["the digits of the client's schema", '{"n":"1.0"}', '{"n":1.0}'],
  ["other texts", '{"n":"3","list":["x","0.5","y"]}', '{"n":"3","list":["x",0.5,"y"]}'],
  ["a text that another branch permits", '{"one":"1"}', '{"one":"1"}'],
  ["a number of a branch", '{"one":"2"}', '{"one":2}'],
  [
    "escapes",
    '{"\\u006e":"\\u0032\\u0030","t":"\\"}{","n":"1"}',
    '{"\\u006e":20,"t":"\\"}{","n":1}',
  ],
  [
    "inner objects and white space",
    '{ "in" : {"né": "7" } , "n":"1"}',
    '{ "in" : {"né": 7 } , "n":1}',
  ],
  [
    "places that the schema does not have",
    '{"in":{"n":"1"},"x":{"n":"1"}}',
    '{"in":{"n":"1"},"x":{"n":"1"}}',
  ],
  ["a long text", `{"n":"${"2".repeat(90)}","t":""}`, `{"n":"${"2".repeat(90)}","t":""}`],
  ["what is no JSON", '}]"n":"1"', '}]"n":"1"'],
];

for (const [what, host, client] of CASES) {
  Deno.test(`texts of a host are numbers again at every cut: ${what}`, () => {
    assert(NUMBERS !== null);
    for (let size = 1; size <= host.length; size++) {
      const reader = newNumberReader(NUMBERS);
      const pieces: string[] = [];
      for (let at = 0; at < host.length; at += size) {
        pieces.push(reader.push(host.slice(at, at + size)));
      }
      assertEquals(pieces.join(""), client);
    }
  });
}

Deno.test("only the text that may be a number waits for its end", () => {
  assert(NUMBERS !== null);
  const reader = newNumberReader(NUMBERS);
  assertEquals(reader.push('{"t":"a'), '{"t":"a');
  assertEquals(reader.push('bc","n":"2'), 'bc","n":');
  assertEquals(reader.push('0"'), "20");
});

Deno.test("levels that no schema has, and names without an end, hold little and are counted", () => {
  assert(NUMBERS !== null);
  const reader = newNumberReader(NUMBERS);
  assertEquals(reader.push('{"list":["0.5"'), '{"list":[0.5');
  assert(reader.heldBytes() > 0);
  reader.push("]}");
  assertEquals(reader.heldBytes(), 0);
  const deep = `${"[".repeat(100_000)}{"n":"1"}`;
  assertEquals(reader.push(deep), deep);
  assertEquals(reader.heldBytes(), 0);
  const long = newNumberReader(NUMBERS);
  const name = `{"${"n".repeat(100_000)}":"1","n":"1"}`;
  assertEquals(long.push(name), name.replace('"n":"1"', '"n":1'));
});

Deno.test("the lists of a schema are read once for all texts and calls, however many come", () => {
  let readCount = 0;
  const branches = Array.from({ length: 100 }, (_, at) => ({ enum: [`${at}`] }));
  const enums = new Map(branches.map((branch) => [branch.enum, new Set(branch.enum)] as const));
  const anyOf = branches.map((branch) => ({
    get enum() {
      readCount += 1;
      return branch.enum;
    },
  }));
  const numbers = { schema: { items: { anyOf } }, enums };
  const list = (text: string) => `[${Array(500).fill(text).join()}]`;
  for (let call = 0; call < 5; call++) {
    assertEquals(newNumberReader(numbers).push(list('"99"')), list("99"));
  }
  assert(readCount < 10 * branches.length, `${readCount}`);
});
