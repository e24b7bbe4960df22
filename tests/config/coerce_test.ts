import { isDeepStrictEqual } from "node:util";
import { parseDocument } from "yaml";
import { coerceMembers } from "../../src/config/coerce.ts";
import { schemaBelow, typedJsonSchema } from "../../src/config/json_schema.ts";
import { configSchema } from "../../src/config/schema.ts";
import { parseTree } from "../../src/config/yaml_tree.ts";
import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, routingOver, withProvider, withSection } from "./parse.ts";

/** More digits than a number holds. */
const LONG = "12345678901234567891";

Deno.test("an unambiguous number or boolean in the place of text is the text that was written", () => {
  const texts = ["12345", "0", "-7", "1.5", "true", "false", "9007199254740991", LONG, `-${LONG}`];
  for (const text of texts) {
    const file = withProvider("openai", `api_key: ${text}`, `default_model: ${text}`);
    const provider = configOf(file).providers["openai"];
    assertEquals([provider?.api_keys[0]?.value, provider?.default_model], [text, text]);
  }
});

Deno.test("a whole number among the extra settings keeps all its digits", () => {
  const file = withProvider("ollama", `extra: {seed: ${LONG}}`);
  assertEquals(configOf(file).providers["ollama"]?.extra, { seed: LONG });
});

Deno.test("a number that could be written in more than one way must be quoted", () => {
  const numbers = [
    "1e5",
    "0x10",
    "0o17",
    "1.0",
    "1.50",
    "012",
    "+1",
    "-0",
    ".5",
    "5.",
    "-012345678901234567890",
    "12345678901234567890.5",
    ".inf",
    ".nan",
    "True",
    "FALSE",
  ];
  for (const number of numbers) {
    assertEquals(problemsOf(withProvider("openai", `api_key: ${number}`)), [
      "providers.openai.api_key: must be text; put it in quotes (line 3, column 14)",
    ], number);
    const quoted = configOf(withProvider("openai", `api_key: "${number}"`));
    assertEquals(quoted.providers["openai"]?.api_keys[0]?.value, number);
  }
});

Deno.test("a number is read as text where the schema expects text, and only there", () => {
  const config = configOf(`
server: {host: 127, allowed_hosts: [10]}
providers:
  1:
    type: compat
    base_url: http://a
    headers: {X-A: 1, X-B: true}
    api_version: 2024
    organization: 7
    models: {mode: static, static: [4, true]}
    capabilities: {hosted_tools: [5]}
security: {enabled: true, api_key: {keys: [{name: 1, value: 12345}]}}
general: {api_key: 1}
telemetry: {service_name: 2}
routing:
  routes:
    - {name: 1, match: {headers: {x-team: 3}, models: [4]}, targets: [{provider: 1, model: 4}]}
`);
  const provider = config.providers["1"];
  const [route] = config.routing.routes;
  assertEquals([config.server.host, config.server.allowed_hosts], ["127", ["10"]]);
  assertEquals(provider?.headers, { "x-a": "1", "x-b": "true" });
  assertEquals([provider?.organization, provider?.timeout], ["7", 120_000]);
  assertEquals(provider?.models.static, ["4", "true"]);
  assertEquals(provider?.capabilities.hosted_tools, ["5"]);
  const [key] = config.security.api_key.keys;
  assertEquals([key?.name, key?.value], ["1", "12345"]);
  assertEquals([config.general.api_key, config.telemetry.service_name], ["1", "2"]);
  assertEquals([route?.name, route?.match.headers, route?.match.models], ["1", { "x-team": "3" }, [
    "4",
  ]]);
  assertEquals([route?.targets[0]?.provider, route?.targets[0]?.model], ["1", "4"]);
});

Deno.test("the rules between keys see numbers as the text they are", () => {
  assertEquals(
    problemsOf(withSection(
      "security: {api_key: {keys: [{name: 1, value: a}, {name: 1, value: b}]}}",
    )),
    ["security.api_key.keys[1].name: is already the name of an earlier key (line 1, column 57)"],
  );
  assertEquals(problemsOf(withProvider("openai", "type: 1")), [
    "providers.openai.type: must be compat, messages or local (line 3, column 11)",
  ]);
});

Deno.test("a number behind an alias is the text that its anchor has", () => {
  const file = withProvider("openai", "api_key: &key 12345", "headers: {X-Key: *key}");
  assertEquals(configOf(file).providers["openai"]?.headers, { "x-key": "12345" });
  const other = withProvider("openai", "temperature: &one 1.0", "default_model: *one");
  assertEquals(problemsOf(other), [
    "providers.openai.default_model: must be text; put it in quotes (line 4, column 20)",
  ]);
});

Deno.test("a section with nothing below it is an empty one", () => {
  const names = [
    "server",
    "logging",
    "security",
    "rate_limiting",
    "retry",
    "circuit_breaker",
    "caching",
    "pricing",
    "telemetry",
    "general",
    "data_sharing",
    "update_check",
  ];
  const empty = withSection(...names.map((name) => `${name}:`));
  assertEquals(configOf(empty), configOf(withSection()));
  assertEquals(
    configOf(withSection("security:", "  api_key:", "    keys:", "server:", "  allowed_hosts:")),
    configOf(withSection()),
  );
  const provider = ["headers:", "extra:", "models:", "capabilities:"];
  assertEquals(
    configOf(withProvider("openai", ...provider)),
    configOf(`providers:\n  openai:\n${routingOver("openai")}`),
  );
  assertEquals(
    configOf(`${withProvider("openai", "models: {fetch: }")}          weight: 1\n      match:\n`)
      .routing.routes[0]?.match,
    { path: "", headers: {}, labels: {} },
  );
});

Deno.test("nothing in the place of a value, of a list that needs items or of a file stays an error", () => {
  assertEquals(problemsOf(withProvider("openai", "timeout:")), [
    "providers.openai.timeout: has no value; add a value or remove the key (line 3, column 13)",
  ]);
  assertEquals(problemsOf(withSection("retry: {retryable_errors: }")), [
    "retry.retryable_errors: has no value; add a value or remove the key (line 1, column 27)",
  ]);
  assertEquals(problemsOf("providers:\nrouting:\n"), [
    "providers: must contain at least one provider (line 1, column 11)",
    "routing.routes: is required (line 2, column 1)",
  ]);
  assertEquals(problemsOf(withSection("cachin:")), [
    '(key): is not a known key; did you mean "caching"? (line 1, column 1)',
  ]);
  assertEquals(
    problemsOf(`providers: {openai: {}}\nrouting: {routes: [{name: a, targets: [null]}]}\n`),
    [
      "routing.routes[0].targets[0]: has no value; add a value or remove the key (line 2, column 40)",
    ],
  );
});

Deno.test("a file that is valid as written means the same after its members are converted", () => {
  const values = ["", "5", "1.5", "1.0", "true", "text", "30s", "{}", "[]", "[5]", "[a]", "{k: 1}"];
  let valid = 0;
  for (const path of pathsOf(typedJsonSchema())) {
    for (const text of values) {
      const document = parseDocument(
        path.reduceRight((inner, step) => `{${step}: ${inner}}`, text),
      );
      const { value, mark } = parseTree(document.contents, {});
      assert(isObject(value));
      const members = coerceMembers(value, mark);
      // What stays as it was written means what it meant.
      if (isDeepStrictEqual(members, value)) continue;
      const asWritten = configSchema.safeParse({ ...VALID, ...value });
      if (!asWritten.success) continue;
      valid++;
      const converted = configSchema.safeParse({ ...VALID, ...members });
      assertEquals(converted.data, asWritten.data, `${path.join(".")}: ${text}`);
    }
  }
  assert(valid > 0);
});

/** The sections that a valid file must have. */
const VALID = {
  providers: { openai: {} },
  routing: { routes: [{ name: "all", targets: [{ provider: "openai" }] }] },
};

/** The paths of all keys that are in no list; any key of a mapping without fixed keys is `k`. */
function pathsOf(
  schema: JsonObject,
  above: readonly string[] = [],
): readonly (readonly string[])[] {
  const { properties, additionalProperties } = schema;
  const keys = isObject(properties) ? Object.keys(properties) : [];
  if (isObject(additionalProperties)) keys.push("k");
  return keys.flatMap((key) => {
    const below = schemaBelow(schema, key);
    const path = [...above, key];
    return [path, ...isObject(below) ? pathsOf(below, path) : []];
  });
}
