import { parse } from "yaml";
import { Ajv2020 } from "ajv/dist/2020.js";
import { isObject } from "../../src/core/json/json.ts";
import { configJsonSchema, typedJsonSchema } from "../../src/config/json_schema.ts";
import { parseReload } from "../../src/config/load.ts";
import { configReference } from "../../scripts/tools/reference/config_keys.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { problemsOf, withProvider, withSection } from "./parse.ts";

const VALID = {
  server: { port: 0 },
  providers: { openai: { timeout: "1h30m", extra: {}, capabilities: { adaptive_thinking: true } } },
  routing: { routes: [{ name: "a", targets: [{ provider: "openai", weight: 2 }] }] },
};

const validate = new Ajv2020().compile(configJsonSchema());

Deno.test("the JSON Schema has the capabilities of stateful upstreams", () => {
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
    withCapabilities({ hosted_tools: [[5]] }),
    withCapabilities({ conversation: true }),
    withApi("embeddings"),
  ];
  for (const one of invalid) assertEquals(validate(one), false, JSON.stringify(one));
});

/** Files that the gateway takes, each with its variables. */
const VALID_STARTS: readonly string[] = [
  ...["compat", "messages", "local"].map((type) =>
    withProvider(
      "mine",
      `type: ${type}`,
      "base_url: https://host/path?api-version=2024-10-01&x=y",
      "api_key: 12345",
      "default_model: true",
      "top_k: 5",
      "organization: 7",
      "api_version: 2024-10-01-preview",
      "compatibility_profile: unknown",
      "normalize_developer_role: true",
      "timeout: 10000h",
      "headers: {x-a: 1}",
      "extra: {anything: 1.0, other: true, third: text}",
      "models: {mode: static, fetch: {ttl: 577h}}",
      "capabilities:",
      "  hosted_tools: [web_search, 5]",
      "  conversations: true",
      "  reasoning_effort_levels: [high]",
      "  adaptive_thinking: 'True'",
    )
  ),
  withProvider(`a${".-_9".repeat(200)}`, "type: compat", "base_url: http://a"),
  withProvider("openai", "headers:", "extra:", "models:", "capabilities:"),
  withProvider("openai", "models: {static: , fetch: }", "capabilities: {hosted_tools: }"),
  `providers:\n  openai:\n${routing()}`,
  withSection("caching:", "server:", "security: {api_key: {keys: }}", "pricing:", "retry:"),
  withSection("caching: {max_size: 0, max_bytes: 1}", "server: {allowed_hosts: }"),
  withSection("x-anchors: &any", "x-: {servers: [1], 'a b': null}", "x-y: text"),
  withSection("x-common: &common {timeout: 1m}").replace(
    "    api_key",
    "    <<: *common\n    api_key",
  ),
  withProvider(
    "openai",
    'timeout: "${TIMEOUT:-30s}"',
    'temperature: "${T:-0.5}"',
    'top_p: "${P:-.5}"',
    'type: "${TYPE:-compat}"',
    'base_url: "${URL:-http://a}"',
    'timeout_mode: "${MODE:-total}"',
    'default_model: "${MODEL:-m}"',
    'extract_reasoning_tags: "${TAGS:-true}"',
    'headers: {x-a: "${A:-b}"}',
  ),
  withSection(
    'server: {port: "${PORT:-8080}", drain_delay: "${D:-1s}", host: "${H:-::1}"}',
    'retry: {max_attempts: "5", multiplier: " 1.5 ", retryable_errors: ["429"], enabled: "FALSE"}',
    "rate_limiting: {burst_size: '1e2'}",
    'pricing: {openai/m: {input: "${IN:-1}", output: "2."}}',
    'logging: {level: "${LEVEL:-warn}"}',
  ),
];

function routing(): string {
  return "routing: {routes: [{name: 1, match: , targets: [{provider: openai}], fallback: }]}\n";
}

/** Parses a file as an editor does: without places and variables. */
function plainYaml(text: string): unknown {
  return parse(text, { merge: true });
}

Deno.test("the JSON Schema accepts each file that the gateway accepts at start or reload", () => {
  for (const text of VALID_STARTS) {
    const reloaded = parseReload(text, {});
    assertEquals([problemsOf(text), reloaded.problems], [[], []], text);
    assert(reloaded.ok && reloaded.leftOut.length === 0);
    assert(validate(plainYaml(text)), `${text}\n${JSON.stringify(validate.errors)}`);
  }
});

Deno.test("the JSON Schema refuses typing errors, as the gateway does", () => {
  const invalid = [
    withSection("cashing:"),
    withSection("X-anchors: 1"),
    withSection("caching: {max_size: -1}"),
    withSection("caching: {ttl: }"),
    withSection("server: []"),
    withSection("server: {x-port: 1}"),
    withSection("server: {port: eighty}"),
    withSection("retry: {enabled: 'yes'}"),
    withSection("logging: {level: loud}"),
    withSection("retry: {retryable_errors: }"),
    withProvider("openai", "x-note: 1"),
    withProvider("openai", "timeout: 30"),
    withProvider("openai", "timeout: 1.5h"),
    withProvider("openai", "extra: {a: [b]}"),
    withProvider("openai", "api_key: [a]"),
    withProvider("openai", "api_key: "),
    withProvider("openai", "top_k: 1.5"),
    withProvider("a/b", "type: compat", "base_url: http://a"),
  ];
  for (const text of invalid) {
    assert(problemsOf(text).length > 0, text);
    assertEquals(validate(plainYaml(text)), false, text);
  }
});

/** Every schema in a schema that has a type, with its place. */
function typedPlaces(schema: unknown, path: string): (readonly [string, unknown])[] {
  if (!isObject(schema)) return [];
  const { properties, additionalProperties, items, ...own } = schema;
  const inner = isObject(properties) ? Object.entries(properties) : [];
  return [
    [path, own],
    ...inner.flatMap(([key, value]) => typedPlaces(value, `${path}.${key}`)),
    ...typedPlaces(additionalProperties, `${path}.*`),
    ...typedPlaces(items, `${path}[]`),
  ];
}

Deno.test("the JSON Schema accepts a variable in place of each value", () => {
  const ajv = new Ajv2020();
  for (const [path, schema] of typedPlaces(configJsonSchema(), "config")) {
    const { type, ...rest } = isObject(schema) ? schema : {};
    const isCollection = type === "object" || type === "array" || Array.isArray(type);
    const accepts = ajv.compile({ ...rest, ...type !== undefined && { type } });
    assertEquals(accepts("${VARIABLE}"), !isCollection, path);
  }
});

Deno.test("the published schema has the keys, descriptions and defaults of the typed schema", () => {
  const described = (schema: unknown) =>
    typedPlaces(schema, "config").map(([path, own]) => {
      const { description, default: usual } = isObject(own) ? own : {};
      return [path, description, usual];
    });
  assertEquals(described(configJsonSchema()), described(typedJsonSchema()));
});

Deno.test("the JSON Schema accepts what the gateway accepts and refuses unknown keys", () => {
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
    "| `server.port` | integer | `8080` | Port to listen on; 0 selects a free port. |",
    "| `logging.format` | `console`, `json` | `console` | Format of log lines. |",
    "| `providers.<id>.timeout` | duration | `120s` | Deadline of one attempt; timeout_mode says whether it covers the first byte or the whole response. |",
    "| `providers.<id>.default_model` | text | none | Model if neither the target nor the request names one; also listed in /v1/models. |",
    "| `routing.routes[].name` | text | required | Unique name of the route. |",
    "| `retry.retryable_errors` | list of integer | `[429,500,502,503,504,529]` | Upstream statuses that are retried. |",
  ];
  for (const row of expected) assert(rows.includes(row), row);
  for (const row of rows.slice(2, -1)) assertEquals(row.split(" | ").length, 4, row);
  assertStringIncludes(configReference(), "complete &lt;think> regions");
});
