import { parseReload } from "../../src/config/load.ts";
import { usedCapabilities } from "../../src/config/unused_keys.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, routingOver, warningsOf, withProvider } from "./parse.ts";

/**
 * A line of a provider whose key has no effect there, and what the warning says about which key.
 */
type Case = readonly [id: string, line: string, key: string, text: string];

const foreign = (type: string, only: string) => `has no effect for type ${type}; only ${only} it`;
const LOCAL = "type local uses";
const COMPAT = "type compat uses";
const MESSAGES = "type messages uses";
const ONLY_MAX = "has no effect: max_tokens is the only extra setting that type messages uses";
const ONLY_CEILING = "has no effect: max_tokens is the only extra setting that type compat uses";
const NO_NUMBER = "has no effect: it is not a whole number of at least 1";
const UNKNOWN = "has no effect: this profile is unknown";

const CASES: readonly Case[] = [
  ["openai", "top_k: 1", "top_k", foreign("compat", LOCAL)],
  ["anthropic", "top_k: 1", "top_k", foreign("messages", LOCAL)],
  ["anthropic", "organization: o", "organization", foreign("messages", COMPAT)],
  ["ollama", "organization: 日本", "organization", foreign("local", COMPAT)],
  ["openai", "api_version: '2023-06-01'", "api_version", foreign("compat", MESSAGES)],
  ["openai", "api_version: 2024-10-01-preview", "api_version", foreign("compat", MESSAGES)],
  ["ollama", "api_version: ''", "api_version", foreign("local", MESSAGES)],
  ["ollama", "compatibility_profile: deepseek", "compatibility_profile", foreign("local", COMPAT)],
  [
    "anthropic",
    "compatibility_profile: qwen",
    "compatibility_profile",
    foreign("messages", COMPAT),
  ],
  [
    "openai",
    "compatibility_profile: qwen",
    "compatibility_profile",
    `${UNKNOWN}; known: gemini, deepseek, openrouter, groq, vllm`,
  ],
  [
    "openai",
    "compatibility_profile: deepseak",
    "compatibility_profile",
    `${UNKNOWN}; did you mean "deepseek"?`,
  ],
  [
    "anthropic",
    "normalize_developer_role: true",
    "normalize_developer_role",
    foreign("messages", COMPAT),
  ],
  [
    "ollama",
    "normalize_developer_role: false",
    "normalize_developer_role",
    foreign("local", COMPAT),
  ],
  ["openai", "extra: {anything: at all}", "extra.anything", ONLY_CEILING],
  ["anthropic", "extra: {beta: x}", "extra.beta", ONLY_MAX],
  ...["0", "many", "-1", "1.5", "'1 '", "12345678901"].map((value): Case => {
    return ["anthropic", `extra: {max_tokens: ${value}}`, "extra.max_tokens", NO_NUMBER];
  }),
  ["openai", "extra: {max_tokens: 0}", "extra.max_tokens", NO_NUMBER],
  ["ollama", "extra: {max_tokens: many}", "extra.max_tokens", NO_NUMBER],
  [
    "openai",
    "models: {static: [m]}",
    "models.static",
    "has no effect: it applies to mode static only",
  ],
  [
    "ollama",
    "models: {mode: fetch, static: [m]}",
    "models.static",
    "has no effect: it applies to mode static only",
  ],
  [
    "openai",
    "models: {fetch: {ttl: 1m}}",
    "models.fetch",
    "has no effect: it applies to mode fetch only",
  ],
  [
    "anthropic",
    "models: {mode: static, static: [m], fetch: {ttl: 1m}}",
    "models.fetch",
    "has no effect: it applies to mode fetch only",
  ],
  ["openai", "max_queued: 3", "max_queued", "has no effect: max_concurrent is not set"],
  ["ollama", "queue_timeout: 3s", "queue_timeout", "has no effect: max_concurrent is not set"],
];

/** A queue that holds no request. */
const NO_QUEUE = "has no effect: max_queued is not set";

/** The types that use each capability. */
const CAPABILITIES: Readonly<Record<string, readonly string[]>> = {
  chat_completions_lifecycle: ["compat"],
  responses_lifecycle: ["compat"],
  conversations: ["compat"],
  background_responses: ["compat"],
  response_cancellation: ["compat"],
  response_compaction: ["compat"],
  response_input_tokens: ["compat"],
  embeddings_base64: ["compat"],
  custom_tools: ["compat"],
  hosted_tools: ["compat"],
  relay: ["compat"],
  structured_outputs: ["compat", "messages", "local"],
  reasoning_effort: ["compat", "messages", "local"],
  reasoning_effort_levels: ["compat", "messages", "local"],
  adaptive_thinking: ["messages"],
};

const TYPES = { openai: "compat", anthropic: "messages", ollama: "local" } as const;

/** A value of each capability that is a list. */
const LISTS: Readonly<Record<string, string>> = {
  hosted_tools: "high",
  reasoning_effort_levels: "high",
  relay: "audio",
};

function onValue(flag: string): string {
  return flag in LISTS ? `[${LISTS[flag]}]` : "true";
}

/** Returns the messages without the place in the file. */
function withoutPlace(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/ \(line.*\)$/, ""));
}

Deno.test("a key that its type does not use is accepted at start and named by a warning", () => {
  for (const [id, line, key, text] of CASES) {
    const file = withProvider(id, line);
    assertEquals(problemsOf(file), [], line);
    assertEquals(withoutPlace(warningsOf(file)), [`providers.${id}.${key}: ${text}`], line);
  }
});

Deno.test("queue_timeout without max_queued is a warning", () => {
  const lines = ["max_concurrent: 2", "queue_timeout: 1s"];
  for (const queue of [[], ["max_queued: 0"], ["max_queued: '0'"]]) {
    const file = withProvider("openai", ...lines, ...queue);
    assertEquals(withoutPlace(warningsOf(file)), [`providers.openai.queue_timeout: ${NO_QUEUE}`]);
    assertEquals(configOf(file).providers["openai"]?.queue_timeout, 30_000);
  }
  for (
    const all of [lines.slice(0, 1), [...lines, "max_queued: 1"], [
      "max_concurrent: 1",
      "max_queued: 0",
    ]]
  ) {
    assertEquals(warningsOf(withProvider("openai", ...all)), []);
  }
});

Deno.test("on reload such a key leaves its provider in place and is named by the same warning", () => {
  for (const [id, line, key, text] of CASES) {
    const loaded = parseReload(withProvider(id, line), {});
    assert(loaded.ok && loaded.leftOut.length === 0 && id in loaded.config.providers, line);
    assertEquals(withoutPlace(loaded.warnings), [`providers.${id}.${key}: ${text}`], line);
  }
});

Deno.test("such a key is named by its warning also when another provider is left out", () => {
  const text = "providers:\n  bad: {type: compat}\n  openai: {top_k: 1}\n" +
    "pricing: {bad/m: {input: 1, output: 1}}\n" + routingOver("openai");
  const loaded = parseReload(text, {});
  assert(loaded.ok);
  assertEquals(loaded.leftOut, ["bad"]);
  assertEquals(loaded.warnings, [
    "providers.openai.top_k: has no effect for type compat; only type local uses it " +
    "(line 3, column 12)",
  ]);
});

Deno.test("a key without effect is absent from the loaded configuration", () => {
  for (const [id, line] of CASES) {
    const mode = /mode: (\w+)/.exec(line)?.[1];
    const used = mode === undefined
      ? "timeout: 120s"
      : `models: {mode: ${mode}${mode === "static" ? ", static: [m]" : ""}}`;
    const without = configOf(withProvider(id, used));
    assertEquals(configOf(withProvider(id, line)), without, line);
  }
});

Deno.test("every capability is accepted at every type, and where it has no effect it is off and named", () => {
  for (const [id, type] of Object.entries(TYPES)) {
    const none = configOf(withProvider(id, "capabilities: {}")).providers[id]?.capabilities;
    assert(none !== undefined);
    assertEquals(Object.keys(none).toSorted(), Object.keys(CAPABILITIES).toSorted());
    for (const [flag, types] of Object.entries(CAPABILITIES)) {
      const file = withProvider(id, `capabilities: {${flag}: ${onValue(flag)}}`);
      const { capabilities } = configOf(file).providers[id] ?? {};
      const loaded = parseReload(file, {});
      assert(loaded.ok && loaded.leftOut.length === 0, file);
      assertEquals(loaded.warnings, warningsOf(file));
      if (types.includes(type)) {
        assertEquals<unknown>(
          capabilities,
          { ...none, [flag]: flag in LISTS ? [LISTS[flag]] : true },
          file,
        );
        assertEquals(warningsOf(file), [], file);
      } else {
        const only = `type ${types[0]} uses`;
        assertEquals(capabilities, none, file);
        assertEquals(warningsOf(file), [
          `providers.${id}.capabilities.${flag}: ${foreign(type, only)} (line 3, column 20)`,
        ], file);
      }
      assertEquals(usedCapabilities(type).includes(flag), types.includes(type));
    }
  }
});

Deno.test("a disabled capability or empty list is never a warning", () => {
  for (const id of Object.keys(TYPES)) {
    for (const flag of Object.keys(CAPABILITIES)) {
      const nothing = flag in LISTS ? "[]" : "false";
      assertEquals(warningsOf(withProvider(id, `capabilities: {${flag}: ${nothing}}`)), []);
    }
  }
});

Deno.test("a typing error stays an error, also in a key that its type does not use", () => {
  const lines = [
    "top_q: 1",
    "top_k: 1.5",
    "organisation: o",
    "normalize_developer_role: maybe",
    "extra: {a: {b: c}}",
    "extra: {a: }",
    "capabilities: {hosted_tool: [a]}",
    "capabilities: {conversations: 1}",
    "models: {mode: fetch, statics: [m]}",
    "models: {static: [' ']}",
    "models: {fetch: {ttl: 5}}",
  ];
  for (const line of lines) {
    for (const id of Object.keys(TYPES)) {
      assertEquals(problemsOf(withProvider(id, line)).length, 1, `${id} ${line}`);
    }
  }
});

Deno.test("a version of the Messages API that is not known is sent as it is and named by a warning", () => {
  const file = withProvider("anthropic", "api_version: 2027-01-01", "temperature: 1");
  assertEquals(configOf(file).providers["anthropic"]?.api_version, "2027-01-01");
  assertEquals(warningsOf(file), [
    "providers.anthropic.api_version: is not a version that the gateway knows; it is sent unchanged " +
    "(line 3, column 18)",
  ]);
  for (const written of ["''", "' '", "2023-06-01"]) {
    const known = withProvider("anthropic", `api_version: ${written}`);
    assertEquals(configOf(known).providers["anthropic"]?.api_version, "2023-06-01");
    assertEquals(warningsOf(known), []);
  }
});

Deno.test("sampling defaults are refused with a newer version only where the version is used", () => {
  const keys = ["api_version: 2026-10-21", "temperature: 1.5", "top_p: 1"];
  assertEquals(problemsOf(withProvider("anthropic", ...keys)).length, 2);
  for (const id of ["openai", "ollama"]) assertEquals(problemsOf(withProvider(id, ...keys)), []);
});

Deno.test("a static list may be empty or missing", () => {
  for (
    const written of ["{mode: static}", "{mode: static, static: []}", "{mode: static, static: }"]
  ) {
    const file = withProvider("openai", `models: ${written}`);
    assertEquals(configOf(file).providers["openai"]?.models.static, []);
    assertEquals(warningsOf(file), []);
  }
});
