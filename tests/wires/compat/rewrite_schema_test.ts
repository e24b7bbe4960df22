import fc from "fast-check";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { newSchemaBudget, rewriteSchema } from "../../../src/wires/compat/rewrite_schema.ts";
import { newNumberReader, type TextNumbers } from "../../../src/wires/compat/text_enums.ts";
import { assert, assertEquals } from "../../support/assert.ts";

function rewritten(schema: JsonObject): readonly [JsonObject, readonly string[]] {
  const result = rewriteSchema(schema, newSchemaBudget());
  assert(result !== null);
  return [result.schema, result.lost];
}

/** Schemas, what the host gets of them, and the paths of what the model loses. */
const CASES: readonly (readonly [what: string, JsonObject, JsonObject, readonly string[]])[] = [
  ["names", { $schema: "s", $id: "i", $comment: "c", type: "string" }, { type: "string" }, []],
  ["hints", { type: "string", title: "T", default: "d", examples: [] }, { type: "string" }, [
    ".title",
    ".default",
    ".examples",
  ]],
  ["const", { const: "x" }, { enum: ["x"], type: "string" }, []],
  ["a number as const", { type: "integer", const: 1 }, { enum: ["1"], type: "string" }, []],
  ["a type or null", { type: ["string", "null"] }, { type: "string", nullable: true }, []],
  ["two types", { type: ["string", "number"] }, {
    anyOf: [{ type: "string" }, { type: "number" }],
  }, []],
  ["a branch for null", { anyOf: [{ type: "string" }, { type: "null" }] }, {
    type: "string",
    nullable: true,
  }, []],
  ["an enum with null", { type: ["string", "null"], enum: ["a", null] }, {
    type: "string",
    nullable: true,
    enum: ["a"],
  }, []],
  ["numbers in an enum", { type: ["integer", "null"], enum: [1, 2.5, null] }, {
    type: "string",
    nullable: true,
    enum: ["1"],
  }, []],
  ["numbers and texts in an enum", { enum: ["a", 1] }, { type: "string", enum: ["a", "1"] }, []],
  ["a number and its text in an enum", { enum: ["1", 1] }, {}, [".enum"]],
  ["other values in an enum", { type: "boolean", enum: [true] }, { type: "boolean" }, [".enum"]],
  ["numbers of an enum with bounds", { type: "integer", enum: [1, 2], minimum: 2 }, {
    type: "string",
    enum: ["1", "2"],
  }, [".minimum"]],
  ["a branch with numbers below a type", {
    type: "integer",
    anyOf: [{ enum: [1, 2] }, { type: "integer", minimum: 5 }],
  }, {
    anyOf: [{ type: "string", enum: ["1", "2"] }, { type: "integer", minimum: 5 }],
  }, []],
  ["numbers beside any text", { anyOf: [{ type: "string" }, { enum: [1] }] }, {
    anyOf: [{ type: "string" }, { type: "string", enum: ["1"] }],
  }, [".anyOf"]],
  [
    "exclusive bounds of integers",
    {
      type: "integer",
      exclusiveMinimum: 0,
      exclusiveMaximum: 9,
    },
    { type: "integer", minimum: 1, maximum: 8 },
    [],
  ],
  ["exclusive bounds of numbers", { type: "number", exclusiveMinimum: 0.5 }, {
    type: "number",
    minimum: 0.5,
  }, [".exclusiveMinimum"]],
  ["open objects", { type: "object", additionalProperties: true }, { type: "object" }, []],
  ["closed objects", { type: "object", additionalProperties: false }, { type: "object" }, [
    ".additionalProperties",
  ]],
  [
    "required names without a property",
    {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a", "b"],
    },
    { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    [],
  ],
  ["an array without items", { type: "array" }, { type: "array", items: {} }, []],
  ["a tuple", { type: "array", items: [{ type: "string" }, { type: "number" }] }, {
    type: "array",
    items: { type: "string" },
  }, [".items"]],
  [
    "references",
    {
      type: "object",
      properties: { a: { $ref: "#/$defs/A", description: "d" } },
      $defs: { A: { type: "string" } },
    },
    { type: "object", properties: { a: { type: "string", description: "d" } } },
    [],
  ],
  ["a reference to nothing", { $ref: "https://a.example/" }, {}, [".$ref"]],
  ["allOf that agrees", { allOf: [{ type: "string" }, { minLength: 1 }] }, {
    type: "string",
    minLength: 1,
  }, []],
  ["allOf that differs", { allOf: [{ minLength: 1 }, { minLength: 2 }] }, { minLength: 1 }, [
    ".allOf",
  ]],
  ["oneOf with a tag", {
    oneOf: ["a", "b"].map((tag) => ({
      type: "object",
      properties: { tag: { const: tag } },
      required: ["tag"],
    })),
  }, {
    anyOf: ["a", "b"].map((tag) => ({
      type: "object",
      properties: { tag: { enum: [tag], type: "string" } },
      required: ["tag"],
    })),
  }, []],
  ["oneOf without a tag", { oneOf: [{ type: "string" }, { minLength: 1 }] }, {
    anyOf: [{ type: "string" }, { minLength: 1 }],
  }, [".oneOf"]],
  ["a pattern that looks ahead", { type: "string", pattern: "(?=a)" }, { type: "string" }, [
    ".pattern",
  ]],
  [
    "a known and an unknown format",
    {
      type: "object",
      properties: { a: { format: "date-time" }, b: { format: "email" } },
    },
    { type: "object", properties: { a: { format: "date-time" }, b: {} } },
    [
      ".properties.b.format",
    ],
  ],
  ["a keyword that is not listed", { type: "string", "x-own": 1 }, { type: "string" }, [".x-own"]],
];

for (const [what, schema, expected, lost] of CASES) {
  Deno.test(`the schema of a tool for the Gemini API: ${what}`, () => {
    assertEquals(rewritten(schema), [expected, lost]);
  });
}

Deno.test("a recursive schema is written out three times, and is open below", () => {
  const tree = {
    type: "object",
    properties: { next: { $ref: "#" } },
  };
  const [schema, lost] = rewritten(tree);
  const inner = { type: "object", properties: { next: {} } };
  const wrap = (next: JsonObject) => ({ type: "object", properties: { next } });
  assertEquals(schema, wrap(wrap(wrap(inner))));
  assertEquals(lost, [".properties.next.properties.next.properties.next.properties.next.$ref"]);
});

Deno.test("a schema whose references multiply is refused, and takes no more than its bound", () => {
  const $defs: JsonObject = { L0: { type: "string" } };
  for (let level = 1; level <= 30; level++) {
    const $ref = `#/$defs/L${level - 1}`;
    $defs[`L${level}`] = { type: "object", properties: { a: { $ref }, b: { $ref } } };
  }
  const budget = newSchemaBudget();
  assertEquals(rewriteSchema({ $ref: "#/$defs/L30", $defs }, budget), null);
  assert(budget.left > -100);
});

Deno.test("references that refer to each other end", () => {
  const $defs = { A: { allOf: [{ $ref: "#/$defs/B" }] }, B: { allOf: [{ $ref: "#/$defs/A" }] } };
  assert(rewriteSchema({ $ref: "#/$defs/A", $defs }, newSchemaBudget()) !== null);
});

Deno.test("very many references that lead nowhere are refused, and a very long one is left out", () => {
  const refs = (name: string) =>
    Array.from({ length: 2_000 }, (_, at) => ({ $ref: `#/$defs/${name}${at}` }));
  const schema = { allOf: refs("a"), properties: { b: { allOf: refs("b") } } };
  assertEquals(rewriteSchema(schema, newSchemaBudget()), null);
  const name = "n".repeat(2_000);
  const rewritten = rewriteSchema(
    {
      type: "object",
      properties: { a: { $ref: `#/$defs/${name}` } },
      $defs: { [name]: { type: "string" } },
    },
    newSchemaBudget(),
  );
  assertEquals(rewritten?.lost.includes(".properties.a.$ref"), true);
});

/** Schemas of a random shape, with the words of all cases. */
const schemas: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<JsonObject>(
      { type: "string" },
      { type: ["string", "null"] },
      { const: "a" },
      { type: "integer", exclusiveMinimum: 0 },
      { type: "number", exclusiveMaximum: 3.5 },
      { enum: ["a", null] },
      { enum: ["a", 1] },
      { type: "integer", enum: [1, 3] },
      { const: 3.5 },
      { type: "string", minLength: 2 },
    ),
    tie("schema").map((items) => ({ type: "array", items, uniqueItems: true })),
    tie("schema").map((a) => ({
      type: "object",
      properties: { a },
      required: ["a"],
      additionalProperties: false,
    })),
    tie("schema").map((one) => ({ anyOf: [one, { type: "null" }] })),
    fc.tuple(tie("schema"), tie("schema")).map(([a, b]) => ({ oneOf: [a, b] })),
    tie("schema").map((one) => ({ allOf: [one, { description: "d" }] })),
  ),
})).schema;

const values: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<JsonValue>("a", "bb", "1", null, 0, 1, 3, 3.5, true),
    fc.array(tie("value"), { maxLength: 2 }),
    tie("value").map((a) => ({ a })),
  ),
})).value;

/** Returns a schema in the words of JSON Schema: `nullable` is one of the Gemini API. */
function standard(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(standard);
  if (typeof schema !== "object" || schema === null) return schema;
  const { nullable, ...rest } = schema;
  const own = Object.fromEntries(
    Object.entries(rest).map(([key, value]) =>
      [key, key === "enum" ? value : standard(value ?? null)] as const
    ),
  );
  return nullable === true ? { anyOf: [own, { type: "null" }] } : own;
}

/** Returns a value with its numbers as such or as texts, in all combinations. */
function written(value: JsonValue): readonly JsonValue[] {
  if (typeof value === "number") return [value, String(value)];
  if (Array.isArray(value)) {
    return value.map(written).reduce<readonly JsonValue[][]>(
      (lists, items) => lists.flatMap((list) => items.map((item) => [...list, item])),
      [[]],
    );
  }
  if (typeof value !== "object" || value === null) return [value];
  return written(value.a ?? null).map((a) => ({ a }));
}

function turnedBack(value: JsonValue, numbers: TextNumbers): JsonValue {
  return JSON.parse(newNumberReader(numbers).push(JSON.stringify(value)));
}

Deno.test("what a schema accepts its rewritten form accepts, and without a loss the reverse", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  fc.assert(fc.property(schemas, fc.array(values, { maxLength: 8 }), (schema, instances) => {
    const host = rewriteSchema(schema, newSchemaBudget());
    assert(host !== null);
    const isExact = host.lost.length === 0;
    const before = ajv.compile(schema), after = ajv.compile(standard(host.schema) as JsonObject);
    for (const instance of instances) {
      const fitting = written(instance).filter((one) => after(one));
      const given = fitting.map((one) => turnedBack(one, host));
      const facts = JSON.stringify({ schema, host: host.schema, instance, given });
      if (before(instance)) {
        const text = JSON.stringify(instance);
        assert(fitting.length > 0, facts);
        assert(!isExact || given.some((one) => JSON.stringify(one) === text), facts);
      }
      if (isExact) assert(given.every((one) => before(one)), facts);
    }
  }));
});
