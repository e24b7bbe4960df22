import { isObject } from "../../src/core/json/json.ts";
import { typedJsonSchema } from "../../src/config/json_schema.ts";
import type { DifferenceKind } from "../../src/replay/difference.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { recordOf, replayed } from "../support/replay.ts";

const BASE = `
providers:
  openai:
    type: compat
    base_url: "http://a.test/v1"
    api_keys: [{name: one, value: sk-1, weight: 1, models: ["*"]}, {name: two, value: sk-2}]
    default_model: own-model
    organization: org-1
    headers: {x-team: blue}
  claude:
    type: messages
    base_url: "http://b.test"
    api_key: sk-3
    default_model: claude-x
  runtime:
    type: local
    base_url: "http://c.test"
    default_model: llama
models:
  quick:
    strategy: sticky
    parameters: {temperature: 0.5}
    max_output: 100
    system: Be short.
    targets: [{provider: openai, model: small, weight: 1}, {provider: claude, model: other}]
    fallback: [{provider: runtime, model: llama}]
routing:
  sessions: agents
  routes:
    - name: matched
      match: {path: /v1/messages, headers: {x-kind: a}, models: ["claude-*"], key: ["team-*"], labels: {team: blue}}
      targets: [{provider: claude}]
    - name: main
      targets: [{provider: openai, model: own-model, weight: 1}, {provider: claude}]
      fallback: [{provider: runtime, model: llama}]
security:
  enabled: true
  api_key:
    keys:
      - {name: team-a, value: 0123456789abcdef, labels: {team: blue}, models: ["*"], providers: [openai, claude, runtime], endpoints: [chat_completions, messages, embeddings, responses], template: staff}
      - {name: team-b, value: fedcba9876543210}
  templates:
    - {name: staff, requests_per_minute: 1000}
pricing:
  openai/own-model: {input: 1, output: 2, cached_input: 0.5, cache_write: 3}
`;

const KEYED = {
  key: "team-a",
  template: "staff",
  usage: { input: 1_000, output: 100, total: 1_100, cached: 100, cache_write: 50, reasoning: 0 },
};

const RECORDS = [
  recordOf("/v1/chat/completions", {
    model: "auto",
    messages: [{ role: "system", content: "Hi." }, { role: "user", content: "Hi." }],
    tools: [{
      type: "function",
      function: {
        name: "look",
        strict: true,
        parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
      },
    }],
  }, { id: "chat", head: KEYED }),
  recordOf("/v1/chat/completions", {
    model: "auto",
    messages: [{ role: "developer", content: "Hi." }, { role: "user", content: "Hi." }],
    reasoning_effort: "low",
  }, { id: "effort", head: KEYED }),
  ...["a", "b", "c", "d", "e", "f", "g", "h"].map((session) =>
    recordOf("/v1/chat/completions", {
      model: "quick",
      messages: [{ role: "user", content: "Hi." }],
    }, {
      id: `named-${session}`,
      head: KEYED,
      request: { headers: { "x-claude-code-session-id": session } },
    })
  ),
  recordOf("/v1/messages", {
    model: "claude-z",
    max_tokens: 50,
    messages: [{ role: "user", content: "Hi." }],
  }, { id: "matched", head: KEYED, request: { headers: { "x-kind": "a" } } }),
  recordOf("/v1/responses", { model: "auto", input: "Hi." }, { id: "response", head: KEYED }),
  recordOf("/v1/moderations", { input: "Hi." }, { id: "relayed", head: KEYED }),
];

/** A key of the configuration, a text of the file, its replacement, and a kind that it causes. */
type Mutant = readonly [key: string, from: string, to: string, kind: DifferenceKind];

const AT_OPENAI = "organization: org-1";

const MUTANTS: readonly Mutant[] = [
  ["providers.*.type", "type: local", "type: compat", "request"],
  ["providers.*.api_keys[].name", "name: one", "name: three", "targets"],
  ["providers.*.api_keys[].weight", "value: sk-1, weight: 1", "value: sk-1, weight: 2", "targets"],
  [
    "providers.*.api_keys[].models[]",
    `models: ["*"]}, {name: two`,
    `models: ["x"]}, {name: two`,
    "targets",
  ],
  ["providers.*.base_url", "http://a.test/v1", "http://a.test/v2", "request"],
  ["providers.*.default_model", "default_model: claude-x", "default_model: claude-y", "model"],
  ["providers.*.temperature", AT_OPENAI, `${AT_OPENAI}\n    temperature: 0.1`, "request"],
  ["providers.*.organization", "org-1", "org-other-and-longer", "headers"],
  [
    "providers.*.prompt_cache_key",
    AT_OPENAI,
    `${AT_OPENAI}\n    prompt_cache_key: session`,
    "request",
  ],
  ["providers.*.headers.*", "x-team: blue", "x-team: red", "headers"],
  [
    "providers.*.verify",
    "default_model: llama",
    "default_model: llama\n    verify: false",
    "fallback",
  ],
  [
    "providers.*.cache_breakpoints",
    "default_model: claude-x",
    "default_model: claude-x\n    cache_breakpoints: auto",
    "request",
  ],
  ["models.*.parameters.temperature", "temperature: 0.5", "temperature: 0.6", "request"],
  ["models.*.max_output", "max_output: 100", "max_output: 99", "request"],
  ["models.*.system", "Be short.", "Be long.", "request"],
  [
    "models.*.strategy",
    "strategy: sticky",
    "strategy: round-robin",
    "targets",
  ],
  [
    "models.*.targets[].provider",
    "{provider: claude, model: other}",
    "{provider: runtime, model: other}",
    "targets",
  ],
  ["models.*.targets[].model", "model: small", "model: tiny", "model"],
  ["models.*.targets[].weight", "model: small, weight: 1", "model: small, weight: 3", "targets"],
  [
    "models.*.targets[].upstream_request_type",
    "model: small",
    "model: small, upstream_request_type: responses",
    "targets",
  ],
  [
    "models.*.fallback[].provider",
    "    fallback: [{provider: runtime, model: llama}]\nrouting",
    "    fallback: [{provider: openai, model: llama}]\nrouting",
    "fallback",
  ],
  [
    "models.*.fallback[].model",
    "    fallback: [{provider: runtime, model: llama}]\nrouting",
    "    fallback: [{provider: runtime, model: mini}]\nrouting",
    "model",
  ],
  [
    "routing.default_strategy",
    "  sessions: agents",
    "  sessions: agents\n  default_strategy: lowest-latency",
    "targets",
  ],
  ["routing.sessions", "sessions: agents", "sessions: header", "targets"],
  ["routing.routes[].name", "name: main", "name: other", "route"],
  ["routing.routes[].match.path", "path: /v1/messages", "path: /v1/chat", "route"],
  ["routing.routes[].match.headers.*", "x-kind: a", "x-kind: b", "route"],
  ["routing.routes[].match.models[]", `"claude-*"`, `"gpt-*"`, "route"],
  ["routing.routes[].match.key[]", `key: ["team-*"]`, "key: [team-b]", "route"],
  [
    "routing.routes[].match.labels.*",
    "labels: {team: blue}}\n      targets",
    "labels: {team: red}}\n      targets",
    "route",
  ],
  [
    "routing.routes[].strategy",
    "    - name: main",
    "    - name: main\n      strategy: lowest-latency",
    "targets",
  ],
  [
    "routing.routes[].targets[].provider",
    "weight: 1}, {provider: claude}]",
    "weight: 1}, {provider: runtime}]",
    "targets",
  ],
  [
    "routing.routes[].targets[].model",
    "{provider: openai, model: own-model",
    "{provider: openai, model: new-model",
    "model",
  ],
  [
    "routing.routes[].targets[].weight",
    "model: own-model, weight: 1",
    "model: own-model, weight: 4",
    "targets",
  ],
  [
    "routing.routes[].targets[].upstream_request_type",
    "model: own-model, weight: 1",
    "model: own-model, weight: 1, upstream_request_type: responses",
    "targets",
  ],
  [
    "routing.routes[].fallback[].provider",
    "      fallback: [{provider: runtime",
    "      fallback: [{provider: claude",
    "fallback",
  ],
  [
    "routing.routes[].fallback[].model",
    "      fallback: [{provider: runtime, model: llama",
    "      fallback: [{provider: runtime, model: mini",
    "model",
  ],
  ["security.enabled", "enabled: true", "enabled: false", "key"],
  ["security.api_key.keys[].name", "{name: team-a", "{name: team-z", "key"],
  [
    "security.api_key.keys[].models[]",
    `models: ["*"], providers`,
    `models: ["small"], providers`,
    "key",
  ],
  [
    "security.api_key.keys[].providers[]",
    "providers: [openai, claude, runtime]",
    "providers: [openai, claude]",
    "key",
  ],
  [
    "security.api_key.keys[].endpoints[]",
    "endpoints: [chat_completions, ",
    "endpoints: [",
    "refused",
  ],
  [
    "security.api_key.keys[].labels.*",
    "labels: {team: blue}, models",
    "labels: {team: red}, models",
    "route",
  ],
  [
    "security.api_key.keys[].expires",
    "{name: team-a,",
    "{name: team-a, expires: 2026-11-01,",
    "key",
  ],
  ["security.api_key.keys[].disabled", "{name: team-a,", "{name: team-a, disabled: true,", "key"],
  [
    "privacy.rules",
    "pricing:",
    "privacy: {rules: [{name: greeting, words: [Hi], action: refuse}], policies: [{name: all, rules: [greeting]}], default: all}\npricing:",
    "refused",
  ],
  ["pricing.*.input", "input: 1,", "input: 2,", "cost"],
  ["pricing.*.output", "output: 2,", "output: 3,", "cost"],
  ["pricing.*.cached_input", "cached_input: 0.5", "cached_input: 0.6", "cost"],
  ["pricing.*.cache_write", "cache_write: 3", "cache_write: 4", "cost"],
];

for (const [key, from, to, kind] of MUTANTS) {
  Deno.test(`a change of ${key} is a difference of the kind ${kind}`, async () => {
    const after = BASE.replace(from, to);
    assert(after !== BASE, key);
    const report = await replayed(RECORDS, BASE, after);
    const kinds = [...report.counts.keys()];
    assert(kinds.includes(kind), `${key}: ${kinds.join(", ") || "no difference"}`);
  });
}

/**
 * Sections and keys without a difference, each with a reason: what only shows while calls run, what
 * clients do not see, secrets and identities, and keys like another one that is shown.
 */
const WITHOUT_DIFFERENCE: readonly (readonly [reason: string, prefixes: readonly string[]])[] = [
  ["the process and its surroundings", [
    "server",
    "telemetry",
    "observability",
    "admin",
    "general",
    "data_sharing",
    "update_check",
    "record",
    "logging",
    "state",
  ]],
  ["what only shows while calls run", [
    "caching",
    "retry",
    "circuit_breaker",
    "rate_limiting",
    ...[
      "key_rest",
      "key_affinity",
      "timeout",
      "timeout_mode",
      "first_content_timeout",
      "connect_timeout",
      "keep_alive",
      "stream_idle_timeout",
      "tls",
      "max_concurrent",
      "max_queued",
      "queue_timeout",
      "extract_reasoning_tags",
      "pass_headers",
      "models",
    ].map((name) => `providers.*.${name}`),
    ...[
      "early_head",
      "hold",
      "hold_bytes",
      "record",
      "fallback_on",
      "targets[].first_content_timeout",
      "targets[].context_size",
      "fallback[].first_content_timeout",
      "fallback[].context_size",
    ]
      .flatMap((name) => [`models.*.${name}`, `routing.routes[].${name}`]),
    "models.*.display_name",
    "models.*.context_size",
    "models.*.response_model",
    ...["requests_per_minute", "tokens_per_minute", "max_concurrent", "budgets"]
      .flatMap((name) => [`security.api_key.keys[].${name}`, `security.templates[].${name}`]),
    "security.groups",
    "security.isolate_clients",
    "security.time_zone",
    "security.api_key.keys[].adopt_unknown",
    "security.templates[].adopt_unknown",
    "security.api_key.keys[].record",
  ]],
  ["secrets, and how they are sent or fetched", [
    "providers.*.api_key",
    "providers.*.api_keys[].value",
    "providers.*.api_keys[].credential",
    "providers.*.credential",
    "security.provider",
    "security.api_key.header",
    "security.api_key.prefix",
    "security.api_key.allow_x_api_key",
    "security.api_key.keys[].value",
    "security.api_key.keys[].sha256",
    "security.api_key.keys[].previous",
    "security.jwt",
  ]],
  ["a kind of upstream or request that the set does not have; a key next to it shows the kind", [
    "providers.*.top_p",
    "providers.*.top_k",
    "providers.*.api_version",
    "providers.*.extra",
    "providers.*.compatibility_profile",
    "providers.*.normalize_developer_role",
    "providers.*.system_messages",
    "providers.*.capabilities",
    "models.*.omit_tools",
    "routing.routes[].omit_tools",
    "models.*.parameters",
    "models.*.fallback[].upstream_request_type",
    "routing.routes[].fallback[].upstream_request_type",
    "models.*.fallback[].weight",
    "routing.routes[].fallback[].weight",
    "security.api_key.keys[].template",
    "security.api_key.keys[].end_users",
    "security.templates",
    "security.api_key.keys[].privacy",
    "privacy",
    "pricing.*.per_image",
    "pricing.*.per_minute",
    "pricing.*.per_million_characters",
  ]],
];

/** Returns the paths of all keys in the schema of the configuration. */
function keysOf(schema: unknown, path = ""): string[] {
  if (!isObject(schema)) return [];
  const { properties, additionalProperties, items, anyOf } = schema;
  const below = [
    ...Object.entries(isObject(properties) ? properties : {})
      .flatMap(([name, one]) => keysOf(one, path === "" ? name : `${path}.${name}`)),
    ...keysOf(additionalProperties, `${path}.*`),
    ...keysOf(items, `${path}[]`),
    ...(Array.isArray(anyOf) ? anyOf : []).flatMap((one) => keysOf(one, path)),
  ];
  return below.length === 0 ? [path] : below;
}

Deno.test("each key of the configuration is a mutant, or in the list of those without a difference", () => {
  const prefixes = WITHOUT_DIFFERENCE.flatMap(([, names]) => names);
  const mutants = new Set(MUTANTS.map(([key]) => key));
  const missing = [...new Set(keysOf(typedJsonSchema()))].filter((key) =>
    !mutants.has(key) &&
    !prefixes.some((one) => key === one || key.startsWith(`${one}.`) || key.startsWith(`${one}[`))
  );
  assertEquals(missing, []);
});
