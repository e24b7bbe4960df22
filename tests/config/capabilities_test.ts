import { assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, withProvider } from "./parse.ts";

/** Requests of capabilities that only upstreams of type compat have. */
const ONLY_COMPAT = {
  chat_completions_lifecycle: "true",
  responses_lifecycle: "true",
  conversations: "true",
  background_responses: "true",
  response_cancellation: "true",
  response_compaction: "true",
  response_input_tokens: "true",
  hosted_tools: "[web_search]",
  embeddings_base64: "true",
  relay: "[audio]",
};

/** Capabilities of upstreams of other types. */
const OTHERS = ["structured_outputs", "reasoning_effort", "adaptive_thinking"];

function capabilitiesOf(id: string, line: string) {
  return configOf(withProvider(id, `capabilities: {${line}}`)).providers[id]?.capabilities;
}

Deno.test("each capability is enabled separately", () => {
  for (const flag of [...Object.keys(ONLY_COMPAT), ...OTHERS]) {
    if (flag === "hosted_tools" || flag === "relay") continue;
    const id = OTHERS.includes(flag) ? "anthropic" : "openai";
    const none: Record<string, unknown> = { ...capabilitiesOf(id, "") };
    for (const written of ["true", '"true"', '"${FLAG:-true}"']) {
      assertEquals<unknown>(capabilitiesOf(id, `${flag}: ${written}`), {
        ...none,
        [flag]: true,
      });
    }
    assertEquals<unknown>(capabilitiesOf(id, `${flag}: false`), none);
  }
});

Deno.test("relayed endpoints are listed; the provider openai with its built-in address has all", () => {
  const relayOf = (id: string, ...lines: readonly string[]) =>
    configOf(withProvider(id, ...lines)).providers[id]?.capabilities.relay;
  const all = ["completions", "moderations", "images", "audio", "files", "batches", "rerank"];
  assertEquals<unknown>(relayOf("openai", "type: compat"), all);
  assertEquals(relayOf("openai", "capabilities: {relay: []}"), []);
  assertEquals(relayOf("openai", "base_url: http://up"), []);
  assertEquals(relayOf("mine", "type: compat", "base_url: http://up"), []);
  assertEquals(relayOf("openai", "capabilities: {relay: [audio]}"), ["audio"]);
});

Deno.test("an unknown relayed endpoint is a problem at its place", () => {
  const [problem = ""] = problemsOf(withProvider("openai", "capabilities: {relay: [speech]}"));
  assertEquals(
    problem.split("relay")[1]?.startsWith("[0]: must be completions, moderations"),
    true,
  );
});

Deno.test("hosted tools are trimmed, in lower case and listed once", () => {
  const line = "hosted_tools: [' Web_Search ', mcp, '', MCP, web_search]";
  assertEquals(capabilitiesOf("openai", line)?.hosted_tools, ["web_search", "mcp"]);
  assertEquals(capabilitiesOf("openai", "hosted_tools: []")?.hosted_tools, []);
});

Deno.test("a capability of the wrong type is reported with line and column", () => {
  const cases: Record<string, string> = {
    "conversations: 1": "conversations: must be true or false (line 3, column 35)",
    "response_compaction: yes": "response_compaction: must be true or false (line 3, column 41)",
    "hosted_tools: web_search": "hosted_tools: must be a list (line 3, column 34)",
    "hosted_tools: [5.0]": "hosted_tools[0]: must be text; put it in quotes (line 3, column 35)",
    "response_lifecycle: true":
      'response_lifecycle: is not a known key; did you mean "responses_lifecycle"? (line 3, column 20)',
  };
  for (const [line, problem] of Object.entries(cases)) {
    const text = withProvider("openai", `capabilities: {${line}}`);
    assertEquals(problemsOf(text), [`providers.openai.capabilities.${problem}`]);
  }
});

/** A file with these targets, and these as fallback. */
function withTargets(targets: string, fallback = "[]"): string {
  return `providers: {openai: {}, anthropic: {}, ollama: {}}
routing:
  routes:
    - {name: a, targets: ${targets}, fallback: ${fallback}}
`;
}

Deno.test("a target uses Chat Completions by default", () => {
  const text = withTargets(
    "[{provider: openai}, {provider: openai, upstream_request_type: responses}]",
    "[{provider: openai, upstream_request_type: chat_completions}]",
  );
  const [route] = configOf(text).routing.routes;
  const types = [...route?.targets ?? [], ...route?.fallback ?? []]
    .map(({ upstream_request_type }) => upstream_request_type);
  assertEquals(types, ["chat_completions", "responses", "chat_completions"]);
});

Deno.test("only a provider of type compat has the Responses API", () => {
  for (const [id, type] of [["anthropic", "messages"], ["ollama", "local"]] as const) {
    const target = `[{provider: ${id}, upstream_request_type: responses}]`;
    const text =
      `can be responses only at a provider of type compat; the type of this provider is ${type}`;
    const at = "routing.routes[0]";
    const column = 26 + `[{provider: ${id}, upstream_request_type: `.length;
    assertEquals(problemsOf(withTargets(target)), [
      `${at}.targets[0].upstream_request_type: ${text} (line 4, column ${column})`,
    ]);
    const behind = column + "[{provider: openai}], fallback: ".length;
    assertEquals(problemsOf(withTargets("[{provider: openai}]", target)), [
      `${at}.fallback[0].upstream_request_type: ${text} (line 4, column ${behind})`,
    ]);
    const chat = `[{provider: ${id}, upstream_request_type: chat_completions}]`;
    assertEquals(problemsOf(withTargets(chat)), []);
  }
});

Deno.test("an unknown upstream request type is reported with line and column", () => {
  const text = withTargets("[{provider: openai, upstream_request_type: embeddings}]");
  assertEquals(problemsOf(text), [
    "routing.routes[0].targets[0].upstream_request_type: must be chat_completions or responses (line 4, column 69)",
  ]);
});
