import type { JsonObject } from "../../../src/core/json/json.ts";
import {
  MAX_LOST,
  newSchemaBudget,
  rewriteSchema,
} from "../../../src/wires/compat/rewrite_schema.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const MIB = 1024 * 1024;

function named(count: number, value: (at: number) => JsonObject): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, value(at)]));
}

Deno.test("a schema as large as a request may be is written, and one whose texts multiply by references is refused", () => {
  const description = "d".repeat(MIB);
  const plain = { properties: named(9, () => ({ description })) };
  assert(rewriteSchema(plain, newSchemaBudget()) !== null);
  const referring = {
    properties: named(4, () => ({ $ref: "#/$defs/a" })),
    $defs: { a: { description } },
  };
  assertEquals(rewriteSchema(referring, newSchemaBudget()), null);
});

Deno.test("lists, names and keywords that references repeat count like texts", () => {
  const list = Array.from({ length: 10_000 }, (_, at) => at);
  const cases: readonly JsonObject[] = [
    { type: "integer", enum: list },
    { required: list.map(String) },
    { properties: { ["n".repeat(MIB)]: true } },
    { additionalProperties: named(10_000, () => ({})) },
    Object.fromEntries(list.map((at) => [`x${at}`, 1])),
    { allOf: [{ examples: list }, { examples: [1, ...list] }, { examples: list.slice(1) }] },
  ];
  for (const [at, repeated] of cases.entries()) {
    const budget = newSchemaBudget();
    const once = { properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: repeated } };
    assert(rewriteSchema(once, budget) !== null, `case ${at}`);
    const often = {
      properties: named(100, () => ({ $ref: "#/$defs/a" })),
      $defs: { a: repeated },
    };
    assertEquals(rewriteSchema(often, newSchemaBudget()), null, `case ${at}`);
  }
});

Deno.test("the branches of allOf count as schemas", () => {
  const branches = (count: number) => ({ allOf: Array.from({ length: count }, () => ({})) });
  assert(rewriteSchema(branches(7_000), newSchemaBudget()) !== null);
  assertEquals(rewriteSchema(branches(8_000), newSchemaBudget()), null);
});

Deno.test("of the lost paths at most 20 are recorded, with the beginnings of long names", () => {
  const inner = { properties: named(30, () => ({ title: "T" })) };
  const schema = { properties: { ["n".repeat(MIB)]: inner } };
  const host = rewriteSchema(schema, newSchemaBudget());
  assertEquals(host?.lost.length, MAX_LOST);
  assertEquals(
    host?.lost[0],
    `.properties.${"n".repeat(256)}.properties.p0.title`,
  );
  assertEquals(Object.keys(host?.schema.properties ?? {})[0]?.length, MIB);
});

Deno.test("branches of allOf together have the properties and required names of all, the first of each", () => {
  const schema: JsonObject = JSON.parse(
    `{"properties": {"a": {"type": "string"}}, "required": ["a"], "allOf": [
      {"properties": {"b": {"type": "string"}, "a": {"type": "number"}}, "required": ["b", "a"]},
      {"properties": {"__proto__": {"type": "string"}, "b": {"type": "number"}}}]}`,
  );
  const host = rewriteSchema(schema, newSchemaBudget());
  assertEquals(
    JSON.stringify(host?.schema),
    `{"properties":{"__proto__":{"type":"string"},"b":{"type":"string"},"a":{"type":"string"}},"required":["a","b"]}`,
  );
  assertEquals(host?.lost, []);
});
