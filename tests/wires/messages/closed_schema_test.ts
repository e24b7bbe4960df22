import type { JsonObject } from "../../../src/core/json/json.ts";
import { closeSchema } from "../../../src/wires/messages/closed_schema.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const PLAIN = { type: "string" };
const CLOSED = { additionalProperties: false };

const CASES:
  readonly (readonly [open: JsonObject, closed: JsonObject, paths: readonly string[]])[] = [
    [{ type: "object" }, { type: "object", ...CLOSED }, ["s.additionalProperties"]],
    [{ properties: { a: PLAIN } }, { properties: { a: PLAIN }, ...CLOSED }, [
      "s.additionalProperties",
    ]],
    [
      { type: ["object", "null"], additionalProperties: PLAIN },
      { type: ["object", "null"], ...CLOSED },
      ["s.additionalProperties"],
    ],
    [{ type: "object", ...CLOSED }, { type: "object", ...CLOSED }, []],
    [{ type: "array", items: PLAIN }, { type: "array", items: PLAIN }, []],
    [{ enum: [{ properties: {} }] }, { enum: [{ properties: {} }] }, []],
    [
      {
        type: "object",
        ...CLOSED,
        properties: { properties: { type: "array", items: { type: "object" } }, type: PLAIN },
        $defs: { "a.b": { anyOf: [PLAIN, { type: "object" }] } },
      },
      {
        type: "object",
        ...CLOSED,
        properties: {
          properties: { type: "array", items: { type: "object", ...CLOSED } },
          type: PLAIN,
        },
        $defs: { "a.b": { anyOf: [PLAIN, { type: "object", ...CLOSED }] } },
      },
      [
        "s.properties.properties.items.additionalProperties",
        "s.$defs.a.b.anyOf[1].additionalProperties",
      ],
    ],
  ];

Deno.test("each object of a schema is closed and named by its path, and nothing else changes", () => {
  for (const [open, closed, paths] of CASES) {
    const opened: string[] = [];
    assertEquals<unknown>(closeSchema(open, "s", (path) => void opened.push(path)), closed);
    assertEquals<unknown>(opened, paths);
  }
});

Deno.test("a property with the name of a prototype is kept", () => {
  const schema: JsonObject = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"object"}}}',
  );
  assertEquals(
    JSON.stringify(closeSchema(schema, "s", () => {})),
    '{"type":"object","properties":{"__proto__":{"type":"object","additionalProperties":false}},"additionalProperties":false}',
  );
});

Deno.test("the path of an object has the beginning of a long name: many objects may be below it", () => {
  const inner = { properties: { a: { type: "object" } }, ...CLOSED };
  const schema = { properties: { ["n".repeat(1_000_000)]: inner }, ...CLOSED };
  const opened: string[] = [];
  const closed = closeSchema(schema, "s", (path) => void opened.push(path));
  assertEquals(opened, [`s.properties.${"n".repeat(256)}.properties.a.additionalProperties`]);
  assertEquals(Object.keys(closed.properties ?? {})[0]?.length, 1_000_000);
});

Deno.test("the path of an object has a bound below many long names: many objects may be below them", () => {
  const leaves = Array.from({ length: 512 }, (_, at) => [`p${at}`, { type: "object" }] as const);
  let schema: JsonObject = { properties: Object.fromEntries(leaves), ...CLOSED };
  for (let level = 0; level < 200; level++) {
    schema = { properties: { ["n".repeat(256)]: schema }, ...CLOSED };
  }
  const opened: string[] = [];
  closeSchema(schema, "s", (path) => void opened.push(path));
  assertEquals(opened.length, 512);
  assert(opened.every((path) => path.length < 2_000), `${opened[0]?.length} characters`);
});
