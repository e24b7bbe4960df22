import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { usedCapabilities } from "../../src/config/unused_keys.ts";
import { PROVIDER_TYPES } from "../../src/config/provider_schema.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const CONFIG = `
providers:
  compat: {type: compat, base_url: "http://up.test"}
  native: {type: compat, base_url: "http://up.test"}
  messages: {type: messages, base_url: "http://up.test", api_key: k}
  messages_effort:
    {type: messages, base_url: "http://up.test", api_key: k, capabilities: {reasoning_effort: true}}
  local: {type: local, base_url: "http://up.test"}
  local_effort: {type: local, base_url: "http://up.test", capabilities: {reasoning_effort: true}}
routing:
  routes:
    - name: native
      match: {models: ["native/*"]}
      targets: [{provider: native, upstream_request_type: responses}]
    - name: all
      targets:
        - {provider: compat}
        - {provider: messages}
        - {provider: messages_effort}
        - {provider: local}
        - {provider: local_effort}
`;

/** A request that needs a capability of a provider. */
interface Needy {
  readonly method?: string;
  readonly path: string;
  readonly provider: string;
  readonly body?: JsonObject;
  /** The field that needs the capability; `provider` if the whole request does. */
  readonly param: string;
}

const CHAT = "/v1/chat/completions";
const ASK = { messages: [{ role: "user", content: "Hi" }] };
const FORMAT = { type: "json_schema", json_schema: { name: "n", schema: { type: "object" } } };

function chat(provider: string, param: string, fields: JsonObject): Needy {
  return { path: CHAT, provider, param, body: { ...ASK, ...fields } };
}

function response(param: string, fields: JsonObject): Needy {
  return { path: "/v1/responses", provider: "native", param, body: { input: "Hi", ...fields } };
}

/** Every capability, with requests that are refused without it. */
const NEEDY: Readonly<Record<string, readonly Needy[]>> = {
  chat_completions_lifecycle: [{
    method: "GET",
    path: CHAT,
    provider: "compat",
    param: "provider",
  }],
  responses_lifecycle: [
    { method: "GET", path: "/v1/responses/resp_1", provider: "native", param: "provider" },
    { method: "DELETE", path: "/v1/responses/resp_1", provider: "native", param: "provider" },
  ],
  conversations: [
    { method: "GET", path: "/v1/conversations/conv_1", provider: "native", param: "provider" },
    { path: "/v1/conversations", provider: "native", param: "provider", body: {} },
  ],
  background_responses: [response("background", { background: true })],
  response_cancellation: [
    { path: "/v1/responses/resp_1/cancel", provider: "native", param: "provider", body: {} },
  ],
  response_compaction: [
    { path: "/v1/responses/compact", provider: "native", param: "provider", body: { input: "Hi" } },
  ],
  response_input_tokens: [{
    path: "/v1/responses/input_tokens",
    provider: "native",
    param: "provider",
    body: { input: "Hi" },
  }],
  relay: [
    { path: "/v1/audio/speech", provider: "compat", param: "provider", body: { input: "Hi" } },
    { method: "GET", path: "/v1/files", provider: "native", param: "provider" },
  ],
  hosted_tools: [
    response("tools[0].type", { tools: [{ type: "web_search" }] }),
    chat("native", "web_search_options", { web_search_options: {} }),
  ],
  embeddings_base64: [{
    path: "/v1/embeddings",
    provider: "compat",
    param: "encoding_format",
    body: { input: "Hi", encoding_format: "base64" },
  }],
  structured_outputs: ["messages", "local"].map((provider) =>
    chat(provider, "response_format", { response_format: FORMAT })
  ),
  reasoning_effort: ["messages", "local"].map((provider) =>
    chat(provider, "reasoning_effort", { reasoning_effort: "low" })
  ),
  reasoning_effort_levels: ["messages_effort", "local_effort"].map((provider) =>
    chat(provider, "reasoning_effort", { reasoning_effort: "max" })
  ),
  adaptive_thinking: [chat("messages", "thinking.type", { thinking: { type: "adaptive" } })],
};

Deno.test("every refusal for an undeclared capability names the key to set", async () => {
  const names = new Set(PROVIDER_TYPES.flatMap((type) => [...usedCapabilities(type)]));
  // Without it custom tools are sent as functions.
  names.delete("custom_tools");
  assertEquals(Object.keys(NEEDY).toSorted(), [...names].toSorted());
  const { app } = testGateway(CONFIG, scriptedWorld({ fetch: () => Promise.reject(new Error()) }));
  for (const [capability, requests] of Object.entries(NEEDY)) {
    assert(requests.length > 0);
    for (const { method = "POST", path, provider, body, param } of requests) {
      const answer = await app(
        new Request(`http://gateway.test${path}`, {
          method,
          headers: { "x-gateway-provider": provider },
          ...body !== undefined && { body: JSON.stringify({ model: `${provider}/m`, ...body }) },
        }),
      );
      const envelope = parseJson(await answer.text());
      assert(isObject(envelope) && isObject(envelope.error), `${capability} ${answer.status}`);
      const { code, message } = envelope.error;
      assertEquals([answer.status, code, envelope.error.param], [
        400,
        "unsupported_feature",
        param,
      ]);
      const key = `providers.${provider}.capabilities.${capability}`;
      assert(typeof message === "string" && message.includes(key), `${key}: ${message}`);
    }
  }
});

Deno.test("without any capable provider the refusal names the key of a provider to choose", async () => {
  const { app } = testGateway(CONFIG, scriptedWorld({ fetch: () => Promise.reject(new Error()) }));
  const answer = await app(
    new Request("http://gateway.test/v1/responses/compact", {
      method: "POST",
      body: '{"model":"m","input":"Hi"}',
    }),
  );
  const text = await answer.text();
  assert(text.includes("providers.NAME.capabilities.response_compaction"), text);
});
