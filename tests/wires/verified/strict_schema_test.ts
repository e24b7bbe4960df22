import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { z } from "zod";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { parseStrictSchema } from "../../../src/wires/verified/strict_schema.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { assertFailed } from "../../support/translated.ts";
import { newPatterns } from "../../../src/wires/verified/patterns.ts";
import { checkOf, problemOf, strictObject, TOO_LARGE } from "./verified.ts";

function accepts(property: JsonObject, value: JsonValue): boolean {
  return problemOf(checkOf(strictObject({ a: property })), JSON.stringify({ a: value })) === null;
}

const VALUES: readonly (readonly [schema: JsonObject, good: JsonValue[], bad: JsonValue[]])[] = [
  [{ type: "string" }, ["", "x"], [1, null, {}]],
  [{ type: ["string", "null"] }, ["", null], [1]],
  [{ type: "integer" }, [1, 1.0, -3, 12345678901234567890], [1.5, "1"]],
  [{ type: "number", minimum: 1, exclusiveMaximum: 2 }, [1, 1.9], [0.9, 2]],
  [{ type: "number", multipleOf: 0.1 }, [0.3, 1], [0.35]],
  [{ type: "string", minLength: 2, maxLength: 3 }, ["ab", "😀😀"], ["a", "abcd"]],
  [{ type: "string", pattern: "^(a+)+$" }, ["a", "aa"], ["", "ab", 1]],
  [{ type: "string", pattern: "[é中]{2}\\d" }, ["x é中7"], ["é7", "é中"]],
  [{ type: ["string", "null"], pattern: "^\\S" }, ["a", null], [" "]],
  [{ type: "string", enum: ["a", "b"] }, ["a"], ["c", 1]],
  [{ enum: ["a", 1, null, true] }, ["a", 1, null, true], [false, 2]],
  [{ const: 3 }, [3], ["3"]],
  [{ type: "array", items: { type: "boolean" }, minItems: 1, maxItems: 2 }, [[true]], [[], [1]]],
  [{ anyOf: [{ type: "string" }, strictObject({ b: { type: "null" } })] }, ["x", { b: null }], [
    {},
    { b: 1 },
  ]],
  [strictObject({ constructor: { type: "string" } }), [{ constructor: "x" }], [{}]],
];

Deno.test("each keyword of the strict subset is checked", () => {
  for (const [schema, good, bad] of VALUES) {
    for (const value of good) assert(accepts(schema, value), JSON.stringify([schema, value]));
    for (const value of bad) assert(!accepts(schema, value), JSON.stringify([schema, value]));
  }
});

const FORMATS: Readonly<Record<string, readonly [good: string[], bad: string[]]>> = {
  date: [["2024-02-29", "2026-12-31"], ["2023-02-29", "2026-13-01", "2026-1-1"]],
  time: [["10:00:00Z", "23:59:60.5+02:00"], ["24:00:00Z", "10:00:00", "10:00Z"]],
  "date-time": [["2026-11-22T10:00:00Z"], ["2026-11-22", "2026-11-31T10:00:00Z"]],
  duration: [["P1D", "PT1H30M", "P2W", "P1Y2M3DT4H"], ["P", "PT", "1D", "P1W2D"]],
  email: [["a.b@example.com"], ["a@", "@b.c", "a..b@c.d", "a b@c.d"]],
  hostname: [["a.example"], ["-a.b", "a..b", ""]],
  ipv4: [["10.0.0.1"], ["10.0.0", "256.0.0.1"]],
  ipv6: [["::1", "2001:db8::7"], ["1::2::3"]],
  uuid: [["0198e1c5-3f0e-4c0d-9a57-2f4f1f1c7b11"], ["0198e1c5"]],
};

Deno.test("formats are checked", () => {
  for (const [format, [good, bad]] of Object.entries(FORMATS)) {
    for (const text of good) assert(accepts({ type: "string", format }, text), text);
    for (const text of [...bad, "a".repeat(400)]) {
      assert(!accepts({ type: "string", format }, text), `${format}: ${text}`);
    }
  }
});

Deno.test("the schemas of a widely used library have a strict check with their patterns", () => {
  const shape = z.object({ email: z.email(), id: z.uuid(), at: z.iso.datetime(), ip: z.ipv4() });
  const check = checkOf(JSON.parse(JSON.stringify(z.toJSONSchema(shape))));
  const good = {
    email: "a.b@example.com",
    id: "0198e1c5-3f0e-4c0d-9a57-2f4f1f1c7b11",
    at: "2026-11-22T10:00:00Z",
    ip: "10.0.0.1",
  };
  assertEquals(problemOf(check, JSON.stringify(good)), null);
  for (
    const bad of [{ email: "a@b" }, { id: "0198e1c5-3f0e-9c0d-9a57-2f4f1f1c7b11" }, { ip: "1" }]
  ) {
    assertEquals(problemOf(check, JSON.stringify({ ...good, ...bad })), "no object of the schema");
  }
});

Deno.test("a schema may refer to its definitions", () => {
  for (const key of ["$defs", "definitions"]) {
    const $ref = `#/${key}/a~1b%20c`;
    const schema = { ...strictObject({ x: { $ref } }), [key]: { "a/b c": { type: "string" } } };
    const check = checkOf(schema);
    assertEquals(problemOf(check, '{"x":"a"}'), null);
    assertEquals(problemOf(check, '{"x":1}'), "no object of the schema");
  }
});

const TREES: readonly JsonObject[] = [
  strictObject({ kids: { type: "array", items: { $ref: "#" } } }),
  {
    $ref: "#/$defs/t",
    $defs: { t: strictObject({ kids: { type: "array", items: { $ref: "#/$defs/t" } } }) },
  },
];

Deno.test("a recursive schema is checked at every level", () => {
  for (const tree of TREES) {
    const check = checkOf(tree);
    assertEquals(problemOf(check, '{"kids":[{"kids":[]},{"kids":[{"kids":[]}]}]}'), null);
    assertEquals(problemOf(check, '{"kids":[{"kids":[{"kids":[1]}]}]}'), "no object of the schema");
    const deep = `${'{"kids":['.repeat(240)}${"]}".repeat(240)}`;
    assertEquals(problemOf(check, deep), null);
  }
});

Deno.test("the time of the check of a recursive schema is limited", () => {
  const next = strictObject({ next: { anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }] } });
  const list = strictObject({ next: { anyOf: [{ type: "null" }, { $ref: "#" }] } });
  const lines: readonly [JsonObject, string][] = [
    [{ $ref: "#/$defs/a", $defs: { a: next, b: next } }, TOO_LARGE],
    [list, "no object of the schema"],
  ];
  for (const [schema, problem] of lines) {
    // Without a limit the check would not end: its steps double with each level.
    assertEquals(
      problemOf(checkOf(schema), `${'{"next":'.repeat(300)}1${"}".repeat(300)}`),
      problem,
    );
  }
});

Deno.test("annotations describe and are ignored", () => {
  const described = { type: "string", description: "d", title: "t", default: 1, examples: [{}] };
  assert(accepts(described, "x"));
  assert(checkOf({ $schema: "https://json-schema.org/draft/2020-12/schema", ...strictObject({}) }));
});

const PLAIN = { type: "string" };

const REFUSED: readonly (readonly [schema: JsonObject, path: string])[] = [
  [{ type: "string" }, "p.type"],
  [{ anyOf: [strictObject({})] }, "p.type"],
  [{ type: "object", properties: {} }, "p.additionalProperties"],
  [{ type: "object", additionalProperties: true }, "p.additionalProperties"],
  [{ ...strictObject({ a: PLAIN }), required: [] }, "p.required"],
  [{ ...strictObject({ a: PLAIN }), required: ["a", "b"] }, "p.required"],
  [strictObject({ a: {} }), "p.properties.a"],
  [strictObject({ a: { type: "text" } }), "p.properties.a.type"],
  [strictObject({ a: { type: "array" } }), "p.properties.a.items"],
  [strictObject({ a: { type: "string", pattern: "(" } }), "p.properties.a.pattern"],
  [strictObject({ a: { type: "string", pattern: "^(?!a)b" } }), "p.properties.a.pattern"],
  [strictObject({ a: { type: "string", pattern: "(a)\\1" } }), "p.properties.a.pattern"],
  [strictObject({ a: { type: "string", pattern: "\\Qa\\E" } }), "p.properties.a.pattern"],
  [
    strictObject({ a: { type: "string", pattern: "((a{90}b){90}){90}" } }),
    "p.properties.a.pattern",
  ],
  [
    strictObject({ a: { type: "string", pattern: `[${"a".repeat(2_000)}]` } }),
    "p.properties.a.pattern",
  ],
  [strictObject({ a: { type: "string", format: "regex" } }), "p.properties.a.format"],
  [
    strictObject({ a: { type: "array", items: PLAIN, uniqueItems: true } }),
    "p.properties.a.uniqueItems",
  ],
  [strictObject({ a: { $ref: "https://schemas.example/a.json" } }), "p.properties.a.$ref"],
  [strictObject({ a: { $ref: "#/$defs/none" } }), "p.properties.a.$ref"],
  [{ $ref: "#" }, "p"],
  [{
    ...strictObject({ a: { $ref: "#/$defs/t" } }),
    $defs: { t: { anyOf: [{ $ref: "#/$defs/t" }] } },
  }, "p"],
  [{ ...strictObject({}), $id: "https://a.example/" }, "p.$id"],
  [{ ...strictObject({}), patternProperties: {} }, "p.patternProperties"],
  [{ ...strictObject({}), allOf: [] }, "p.allOf"],
  [strictObject({ a: { enum: [{}] } }), "p.properties.a.enum"],
  [strictObject(JSON.parse('{"__proto__":{"type":"string"}}')), "p.properties.__proto__"],
];

Deno.test("a schema outside of the strict subset is refused by name", () => {
  for (const [schema, path] of REFUSED) {
    assertFailed(parseStrictSchema(schema, "p", newPatterns()), "unsupported_feature", path);
  }
});

Deno.test("a keyword with a value of the wrong type is refused by name", () => {
  const cases: readonly (readonly [JsonObject, string])[] = [
    [{ type: "string", minLength: -1 }, "minLength"],
    [{ type: "number", minimum: "1" }, "minimum"],
    [{ type: "number", multipleOf: 0 }, "multipleOf"],
    [{ anyOf: [] }, "anyOf"],
    [{ enum: [] }, "enum"],
    [{ type: "string", pattern: 1 }, "pattern"],
    [{ type: "array", items: [] }, "items"],
  ];
  for (const [schema, key] of cases) {
    const refused = parseStrictSchema(strictObject({ a: schema }), "p", newPatterns());
    assertFailed(refused, "invalid_type", `p.properties.a.${key}`);
  }
});

Deno.test("a schema is refused if it has more than 2,000 parts, is too deep, or has too many alternatives", () => {
  const wide = strictObject({ a: { enum: Array.from({ length: 2_000 }, (_, n) => n) } });
  assertFailed(
    parseStrictSchema(wide, "p", newPatterns()),
    "unsupported_feature",
    "p.properties.a.enum",
  );
  let deep: JsonObject = PLAIN;
  for (let level = 0; level < 70; level++) deep = { type: "array", items: deep };
  const tooDeep = parseStrictSchema(strictObject({ a: deep }), "p", newPatterns());
  assert(!tooDeep.ok);
  assertEquals(tooDeep.failure.kind, "unsupported_feature");
});

Deno.test("alternatives that double with each definition are refused", () => {
  const $defs: JsonObject = { d0: PLAIN };
  for (let level = 1; level <= 30; level++) {
    const $ref = `#/$defs/d${level - 1}`;
    $defs[`d${level}`] = { anyOf: [strictObject({ x: { $ref } }), strictObject({ x: { $ref } })] };
  }
  const schema = { ...strictObject({ a: { $ref: "#/$defs/d30" } }), $defs };
  assertFailed(parseStrictSchema(schema, "p", newPatterns()), "unsupported_feature", "p");
});

Deno.test("a chain of many references is refused", () => {
  const $defs: JsonObject = { d0: PLAIN };
  for (let at = 1; at < 1_500; at++) $defs[`d${at}`] = { $ref: `#/$defs/d${at - 1}` };
  const schema = { ...strictObject({ a: { $ref: "#/$defs/d1499" } }), $defs };
  assertFailed(parseStrictSchema(schema, "p", newPatterns()), "unsupported_feature", "p");
});

Deno.test("arguments with more elements than the steps suffice for fail, and arguments that are too deep", () => {
  const check = checkOf(strictObject({ a: { type: "array", items: { type: "integer" } } }));
  assertEquals(problemOf(check, `{"a":[${"1,".repeat(45_000)}1]}`), null);
  assertEquals(problemOf(check, `{"a":[${"1,".repeat(50_000)}1]}`), TOO_LARGE);
  assertEquals(problemOf(check, `{"a":${"[".repeat(600)}${"]".repeat(600)}}`), "no JSON object");
});

/** A schema of an array whose elements may be any of these. */
function listOf(anyOf: JsonObject[]): JsonObject {
  return strictObject({ a: { type: "array", items: { anyOf } } });
}

Deno.test("the time of a check is limited, whatever client and model choose", () => {
  const long: JsonObject = { type: "string", minLength: 5_000_000 };
  const cases: readonly (readonly [schema: JsonObject, value: JsonValue])[] = [
    [listOf([...Array<JsonObject>(900).fill({ type: "number" }), PLAIN]), Array(99_000).fill("a")],
    [listOf([...Array<JsonObject>(480).fill(strictObject({})), PLAIN]), Array(99_000).fill("a")],
    [listOf([...Array<JsonObject>(900).fill(long), PLAIN]), ["é".repeat(4_000_000)]],
    [
      listOf([...Array<JsonObject>(900).fill({ type: "string", format: "email" }), PLAIN]),
      Array(1_000).fill(`a@${"b.".repeat(150)}!`),
    ],
    [
      listOf([{ type: "string", pattern: "^(\\w?\\w*x?){99}$" }]),
      Array(90).fill("a".repeat(9_000)),
    ],
  ];
  for (const [schema, a] of cases) {
    const check = checkOf(schema);
    assertEquals(problemOf(check, JSON.stringify({ a })), TOO_LARGE);
  }
});

Deno.test("the checks of a response take up to 200,000 steps", () => {
  const check = checkOf(listOf([...Array<JsonObject>(900).fill({ type: "number" }), PLAIN]));
  // Each element is compared with 901 schemas.
  assertEquals(problemOf(check, JSON.stringify({ a: Array(215).fill("a") })), null);
  assertEquals(problemOf(check, JSON.stringify({ a: Array(230).fill("a") })), TOO_LARGE);
});

Deno.test("a text that a large pattern would be slow to check is too large, and short ones are checked", () => {
  const slow = checkOf(listOf([{ type: "string", pattern: "[ab]*a[ab]{400}[cd]" }]));
  assertEquals(problemOf(slow, JSON.stringify({ a: ["ab".repeat(400)] })), TOO_LARGE);
  const some = JSON.stringify({ a: Array(10).fill("ab".repeat(40)) });
  assertEquals(problemOf(slow, some), "no object of the schema");
});

Deno.test("the table of a pattern is paid once: thousands of equal texts are checked", () => {
  const email = "^[\\w.+-]+@(?:[a-z\\d-]+\\.)+[a-z]{2,}$";
  const check = checkOf(listOf([{ type: "string", pattern: email }]));
  const texts = Array.from({ length: 4_000 }, (_, at) => `name.${at}@mail.example.com`);
  assertEquals(problemOf(check, JSON.stringify({ a: texts })), null);
});

Deno.test("a property that is listed many times is required once", () => {
  const inner = { ...strictObject({ b: PLAIN }), required: Array(190_000).fill("b") };
  const check = checkOf(strictObject({ a: { type: "array", items: inner } }));
  const began = performance.now();
  assertEquals(problemOf(check, JSON.stringify({ a: Array(2_000).fill({ b: "x" }) })), null);
  assertEquals(problemOf(check, '{"a":[{}]}'), "no object of the schema");
  assert(performance.now() - began < 5_000);
});

Deno.test("a schema with as many properties as permitted is checked", () => {
  const names = Array.from({ length: 1_999 }, (_, at) => `p${at}`);
  const check = checkOf(strictObject(Object.fromEntries(names.map((name) => [name, PLAIN]))));
  const value = Object.fromEntries(names.map((name) => [name, "x"]));
  assertEquals(problemOf(check, JSON.stringify(value)), null);
  assertEquals(problemOf(check, JSON.stringify({ ...value, p7: 1 })), "no object of the schema");
});

Deno.test("a property with an empty name is required in an object at any depth", () => {
  const inner = strictObject({ "": { type: "integer" } });
  const check = checkOf(strictObject({ a: inner }));
  assertEquals(problemOf(check, '{"a":{"":0}}'), null);
  assertEquals(problemOf(check, '{"a":{}}'), "no object of the schema");
  assertEquals(problemOf(checkOf(inner), "{}"), "no object of the schema");
});

/**
 * Names that Ajv 8.20 compares as JSON Schema says: it permits that a nested property "" is
 * missing.
 */
const propertyName = fc.string({ minLength: 1 }).filter((name) => name !== "__proto__");

const { schema } = fc.letrec<{ readonly schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("string", "number", "integer", "boolean", "null").map((type) => ({ type })),
    fc.record({ enum: fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1 }) }),
    fc.record({ $ref: fc.constantFrom("#/$defs/a", "#/definitions/b") }),
    tie("schema").map((items) => ({ type: "array", items })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.dictionary(propertyName, tie("schema"), { maxKeys: 4 }).map(strictObject),
  ),
}));

/** Values that the schemas below often accept. */
const { value: likely } = fc.letrec<{ readonly value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<JsonValue>(null, true, 1, 1.5, "", "a"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.stringMatching(/^[a-c]$/), tie("value"), { maxKeys: 3 }),
  ),
}));

Deno.test("the check of a schema has the result of a JSON Schema validator", () => {
  const ajv = new Ajv2020({ strict: false, ownProperties: true });
  const properties = fc.dictionary(fc.stringMatching(/^[a-c]$/), schema, { maxKeys: 2 });
  fc.assert(
    fc.property(properties, likely, (given, one) => {
      const root = {
        ...strictObject(given),
        $defs: { a: { type: "null" } },
        definitions: { b: { const: 1 } },
      };
      const validate = ajv.compile(root);
      for (const value of [one, ...Object.keys(given).map((name) => ({ [name]: one }))]) {
        const text = JSON.stringify(value);
        const problem = problemOf(checkOf(root), text);
        assertEquals(problem === null, validate(JSON.parse(text)), JSON.stringify([root, text]));
      }
    }),
    { numRuns: 60 },
  );
});

Deno.test("each schema that is not refused checks a value without an error", () => {
  const properties = fc.dictionary(fc.stringMatching(/^[a-c]$/), schema);
  fc.assert(
    fc.property(properties, fc.json(), (given, text) => {
      const root = {
        ...strictObject(given),
        $defs: { a: { type: "null" } },
        definitions: { b: { const: 1 } },
      };
      const parsed = parseStrictSchema(root, "p", newPatterns());
      assert(parsed.ok);
      const problem = problemOf(parsed.value, `{"a":${text}}`);
      assert(problem === null || problem === "no object of the schema");
    }),
    { numRuns: 60 },
  );
});
