import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject } from "../../src/core/json/json.ts";
import { sampleArguments, sampleFromSchema } from "../../src/simulator/schema_sample.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});

Deno.test("sampleFromSchema() returns a value that matches its schema, always the same", () => {
  const node = object({ name: { type: "string" } });
  const schemas: readonly JsonObject[] = [
    object({ a: { type: "integer", minimum: 2.5 }, b: { type: "number" }, c: { type: "boolean" } }),
    object({ text: { type: "string", minLength: 9 }, short: { type: "string", maxLength: 2 } }),
    object({ list: { type: "array", items: { type: "string" }, minItems: 2 } }),
    object({ maybe: { type: ["null", "string"] }, none: { type: "null" } }),
    object({ one: { const: 4 }, two: { enum: ["x", "y"] } }),
    object({ either: { anyOf: [{ type: "number" }, { type: "string" }] } }),
    object({ node: { $ref: "#/$defs/node" } }, { $defs: { node } }),
    { type: "array", items: { type: "integer" } },
  ];
  for (const schema of schemas) {
    const value = sampleFromSchema(schema);
    assert(
      new Ajv2020({ strict: false }).validate(schema, value),
      JSON.stringify({ schema, value }),
    );
    assertEquals(sampleFromSchema(schema), value);
  }
});

Deno.test("sampleFromSchema() sets required properties only", () => {
  const properties = { a: { type: "string" }, b: { type: "string" } };
  assertEquals(sampleFromSchema({ type: "object", properties, required: ["b"] }), { b: "text" });
});

Deno.test("sampleFromSchema() ends a recursive schema with null", () => {
  const self = object({ child: { $ref: "#" } });
  assertMatch(JSON.stringify(sampleFromSchema(self)), /^(?:\{"child":)+null\}+$/);
});

Deno.test("sampleArguments() returns an object for any schema", () => {
  assertEquals(sampleArguments({ type: "string" }), {});
  assertEquals(sampleArguments(undefined), {});
});
