import { Ajv2020 } from "ajv/dist/2020.js";
import { isObject } from "../../src/core/json.ts";
import { configJsonSchema } from "../../src/config/json_schema.ts";
import { configReference } from "../../src/config/reference.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";

const VALID = {
  server: { port: 0 },
  providers: { openai: { timeout: "1h30m", extra: {}, capabilities: { adaptive_thinking: true } } },
  routing: { routes: [{ name: "a", targets: [{ provider: "openai", weight: 2 }] }] },
};

Deno.test("the JSON Schema knows what upstreams that keep state can do", () => {
  const validate = new Ajv2020().compile(configJsonSchema());
  const withCapabilities = (capabilities: unknown) => ({
    ...VALID,
    providers: { openai: { capabilities } },
  });
  const withApi = (upstream_request_type: unknown) => ({
    ...VALID,
    routing: { routes: [{ name: "a", targets: [{ provider: "openai", upstream_request_type }] }] },
  });
  const flags = { responses_lifecycle: true, conversations: false, hosted_tools: ["web_search"] };
  for (
    const valid of [withCapabilities(flags), withApi("responses"), withApi("chat_completions")]
  ) {
    assert(validate(valid), JSON.stringify(validate.errors));
  }
  const invalid = [
    withCapabilities({ conversations: "yes" }),
    withCapabilities({ hosted_tools: "web_search" }),
    withCapabilities({ hosted_tools: [5] }),
    withCapabilities({ conversation: true }),
    withApi("embeddings"),
  ];
  for (const one of invalid) assertEquals(validate(one), false, JSON.stringify(one));
});

Deno.test("the JSON Schema takes what the gateway takes and refuses unknown keys", () => {
  const validate = new Ajv2020().compile(configJsonSchema());
  assert(validate(VALID), JSON.stringify(validate.errors));
  assertEquals(validate({ ...VALID, cashing: {} }), false);
  assertEquals(validate({ ...VALID, providers: { "a b": { type: "compat" } } }), false);
  assertEquals(validate({ ...VALID, providers: { openai: { timeout: "90" } } }), false);
  assertEquals(validate({ ...VALID, server: { port: 65_536 } }), false);
  assertEquals(validate({ providers: VALID.providers }), false);
});

/** Paths of all mappings and keys below a schema that lack what a reader needs. */
function lacking(schema: unknown, path: string): string[] {
  if (!isObject(schema)) return [path];
  const inner = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const isOpen = inner.length > 0 && schema.additionalProperties !== false;
  const undescribed = inner.filter(([, value]) => !isObject(value) || !value.description);
  return [
    ...(isOpen ? [path] : []),
    ...undescribed.map(([key]) => `${path}.${key}`),
    ...inner.flatMap(([key, value]) => lacking(value, `${path}.${key}`)),
    ...(schema.items === undefined ? [] : lacking(schema.items, `${path}[]`)),
    ...(isObject(schema.additionalProperties)
      ? lacking(schema.additionalProperties, `${path}.*`)
      : []),
  ];
}

Deno.test("every key of the JSON Schema is described and every mapping is closed", () => {
  assertEquals(lacking(configJsonSchema(), "config"), []);
  assertEquals(configJsonSchema().$schema, "https://json-schema.org/draft/2020-12/schema");
});

Deno.test("the reference has a row with type, default and meaning for every key", () => {
  const rows = configReference().split("\n");
  const expected = [
    "| `server.port` | integer | `8080` | The port to listen on; 0 picks a free one. |",
    "| `logging.format` | `console`, `json` | `console` | How a log line is written. |",
    "| `providers.<id>.timeout` | duration | `120s` | How long one attempt may take. |",
    "| `providers.<id>.default_model` | text | none | The model when neither the target nor the request names one. |",
    "| `routing.routes[].name` | text | required | The name, unique among the routes. |",
    "| `retry.retryable_errors` | list of integer | `[429,500,502,503,504,529]` | The upstream statuses that are worth a repeat. |",
  ];
  for (const row of expected) assert(rows.includes(row), row);
  for (const row of rows.slice(2, -1)) assertEquals(row.split(" | ").length, 4, row);
  assertStringIncludes(configReference(), "complete &lt;think> regions");
});
