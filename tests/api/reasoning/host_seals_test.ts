import { newHostSeals } from "../../../src/api/reasoning/host_seals.ts";
import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { testGateway } from "../../support/gateway.ts";
import { streamOf } from "../../support/pieces.ts";
import { type Fetch, scriptedWorld } from "../../support/world.ts";

const SIGNED = { google: { thought_signature: "real" } };
const UNSIGNED = { google: { thought_signature: "skip_thought_signature_validator" } };

const CALLS = [
  {
    id: "a",
    type: "function",
    function: { name: "f", arguments: "{}" },
    extra_content: SIGNED,
  },
  { id: "b", type: "function", function: { name: "f", arguments: "{}" } },
];

function completion(message: JsonObject): string {
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return JSON.stringify({ id: "c", object: "chat.completion", created: 1, model: "m", choices });
}

const CALLED = completion({ role: "assistant", content: "Hm.", tool_calls: CALLS });

const PROFILE = "compatibility_profile: gemini";

/** A configuration with one provider of type compat and these settings. */
function configOf(settings: string, { key = "api_key: sk-1", type = "compat", top = "" } = {}) {
  return `${top}
providers: {up: {type: ${type}, base_url: "http://up.test", ${key}, ${settings}}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
`;
}

/** Request of the upstream, and response of the client. */
interface Step {
  readonly sent: JsonObject;
  readonly authorization: string | null;
  readonly status: number;
  readonly body: JsonObject;
  readonly lossy: string | null;
}

/** Sends a request through a new gateway whose upstream gives this response. */
async function step(config: string, path: string, body: JsonObject, given = CALLED): Promise<Step> {
  let sent: JsonObject = {};
  let authorization: string | null = null;
  const fetch: Fetch = async (_url, init) => {
    const parsed = parseJson(await new Response(init.body ?? null).text());
    sent = isObject(parsed) ? parsed : {};
    authorization = new Headers(init.headers).get("authorization");
    return new Response(streamOf([new TextEncoder().encode(given)]));
  };
  const { app } = testGateway(config, scriptedWorld({ fetch }));
  const response = await app(
    new Request(`http://gateway.test${path}`, { method: "POST", body: JSON.stringify(body) }),
  );
  const got = parseJson(await response.text());
  assert(isObject(got));
  const lossy = response.headers.get("x-gateway-lossy");
  return { sent, authorization, status: response.status, body: got, lossy };
}

/** The assistant message that the upstream gets. */
function assistantIn({ sent: { messages } }: Step): JsonObject {
  const found = Array.isArray(messages) ? messages.filter(isObject) : [];
  return found.find(({ role }) => role === "assistant") ?? {};
}

const signaturesIn = (taken: Step) => {
  const { tool_calls: calls } = assistantIn(taken);
  return Array.isArray(calls)
    ? calls.filter(isObject).map(({ extra_content }) => extra_content ?? null)
    : [];
};

const QUESTION = { role: "user", content: "Hi" };

/** A Messages request, with the message of the response before if there is one. */
function messagesBody(content: JsonObject["content"] = [], more: JsonObject = {}): JsonObject {
  const results = ["a", "b"].map((tool_use_id) => ({ type: "tool_result", tool_use_id }));
  const history = Array.isArray(content) && content.length > 0
    ? [{ role: "assistant", content }, { role: "user", content: results }]
    : [];
  return {
    model: "m",
    max_tokens: 4096,
    thinking: { type: "adaptive" },
    messages: [QUESTION, ...history],
    tools: [{ name: "f", input_schema: { type: "object" } }],
    ...more,
  };
}

function responsesBody(output: JsonObject["output"] = [], more: JsonObject = {}): JsonObject {
  const items = Array.isArray(output) ? output : [];
  const results = items.length === 0 ? [] : ["a", "b"].map((call_id) => ({
    type: "function_call_output",
    call_id,
    output: "1",
  }));
  return {
    model: "m",
    store: false,
    input: [QUESTION, ...items, ...results],
    tools: [{ type: "function", name: "f", parameters: { type: "object" }, strict: false }],
    ...more,
  };
}

const APIS = {
  messages: {
    path: "/v1/messages",
    body: messagesBody,
    given: ({ content = null }: JsonObject) => content,
    sealed: "messages.1.content.0.signature",
  },
  responses: {
    path: "/v1/responses",
    body: responsesBody,
    given: ({ output = null }: JsonObject) => output,
    sealed: "input[2].encrypted_content",
  },
} as const;

/** The text and calls of a response of the host, as the client of an API gets them. */
async function sealed(api: keyof typeof APIS, config = configOf(PROFILE)) {
  const { path, body, given } = APIS[api];
  const { body: response } = await step(config, path, body());
  return given(response);
}

for (const api of ["messages", "responses"] as const) {
  const { path, body, sealed: sealedPath } = APIS[api];

  Deno.test(`a signature of a host comes back to it from a client of ${api}, with one message`, async () => {
    const taken = await step(configOf(PROFILE), path, body(await sealed(api)));
    assertEquals(taken.lossy, null);
    assertEquals(signaturesIn(taken), [SIGNED, null]);
    assertEquals(JSON.stringify(assistantIn(taken)).includes("Hm."), true);
  });

  for (
    const [what, config, more] of [
      ["another account", configOf(PROFILE, { key: "api_key: sk-2" }), {}],
      ["another model", configOf(PROFILE), { model: "other" }],
    ] as const
  ) {
    Deno.test(`a signature from a client of ${api} is not sent to ${what}, and named`, async () => {
      const taken = await step(config, path, body(await sealed(api), more));
      assertEquals(signaturesIn(taken), [UNSIGNED, null]);
      assertEquals(taken.lossy?.includes(sealedPath), true, taken.lossy ?? "");
    });
  }

  Deno.test(`a signature from a client of ${api} is not sent to other hosts, and named`, async () => {
    const given = await sealed(api);
    const plain = await step(configOf("default_model: m"), path, body(given));
    assertEquals([signaturesIn(plain), plain.lossy], [[null, null], sealedPath]);
    const local = await step(
      configOf("default_model: m", { type: "local" }),
      path,
      body(given),
      JSON.stringify({ model: "m", message: { content: "Hi" }, done: true, done_reason: "stop" }),
    );
    assertEquals([local.status, local.lossy], [200, sealedPath]);
    assertEquals(JSON.stringify(local.sent).includes("real"), false);
  });

  Deno.test(`the key that has signed is used for a client of ${api}`, async () => {
    const pool = "api_keys: [{name: one, value: sk-1}, {name: two, value: sk-2}]";
    for (const key of ["sk-1", "sk-2"]) {
      const given = await sealed(api, configOf(PROFILE, { key: `api_key: ${key}` }));
      const taken = await step(configOf(PROFILE, { key: pool }), path, body(given));
      assertEquals([taken.authorization, signaturesIn(taken)], [`Bearer ${key}`, [SIGNED, null]]);
    }
  });

  Deno.test(`a signature comes back from a client of ${api} without a state store`, async () => {
    const config = configOf(PROFILE, { top: "state: {store: none}" });
    const given = await sealed(api, config);
    assertEquals(signaturesIn(await step(config, path, body(given))), [SIGNED, null]);
  });
}

Deno.test("a Messages client that has not requested thinking gets no block for a signature", async () => {
  for (const thinking of [null, { type: "disabled" }]) {
    const { body } = await step(
      configOf(PROFILE),
      "/v1/messages",
      messagesBody([], { thinking }),
    );
    const { content } = body;
    assert(Array.isArray(content));
    const types = content.filter(isObject).map(({ type }) => type);
    assertEquals(types, ["text", "tool_use", "tool_use"]);
  }
});

Deno.test("a host without a profile gives a client no seal", async () => {
  const { body } = await step(configOf("default_model: m"), "/v1/messages", messagesBody());
  assertEquals(JSON.stringify(body).includes("switchyard1."), false);
  const made = await step(configOf("default_model: m"), "/v1/responses", responsesBody());
  assertEquals(JSON.stringify(made.body).includes("switchyard1."), false);
});

Deno.test("a damaged seal is treated as a foreign one", async () => {
  const damaged = (given: unknown): unknown =>
    JSON.parse(JSON.stringify(given).replaceAll(/switchyard1\.[0-9a-f]/g, "switchyard1.x"));
  const content = damaged(await sealed("messages"));
  assert(Array.isArray(content));
  const taken = await step(configOf(PROFILE), "/v1/messages", messagesBody(content));
  assertEquals(signaturesIn(taken), [UNSIGNED, null]);
  assertEquals(taken.lossy?.includes("messages.1.content.0"), true);
  const output = damaged(await sealed("responses"));
  assert(Array.isArray(output));
  const refused = await step(configOf(PROFILE), "/v1/responses", responsesBody(output));
  assertEquals(refused.status, 400);
});

Deno.test("the signature of a message comes back at the message", async () => {
  const own = completion({
    role: "assistant",
    content: "Hm.",
    extra_content: SIGNED,
    tool_calls: CALLS,
  });
  for (const api of ["messages", "responses"] as const) {
    const { path, body, given } = APIS[api];
    const first = await step(configOf(PROFILE), path, body(), own);
    const taken = await step(configOf(PROFILE), path, body(given(first.body)));
    assertEquals(assistantIn(taken).extra_content, SIGNED);
  }
});

Deno.test("the seal names no key, not even by the digest that the gateway stores", async () => {
  const { gateway } = testGateway(configOf(PROFILE), scriptedWorld());
  const digest = gateway.generation.providers.get("up")?.accounts[0].digest;
  assert(digest !== undefined);
  const content = JSON.stringify(await sealed("messages"));
  const [, payload = ""] = /switchyard1\.[0-9a-f]+\.([\w-]+)/.exec(content) ?? [];
  const text = new TextDecoder().decode(Uint8Array.fromBase64(payload, { alphabet: "base64url" }));
  assertEquals([text.includes("real"), text.includes(digest)], [true, false]);
});

const SIGNER = { account: "tag", model: "m" };
const signature = (call?: number) => ({
  type: "extra_content",
  signature: SIGNED,
  ...call !== undefined && { call },
});
const named = { type: "extra_content", signature: SIGNED, ...SIGNER };

Deno.test("each signature is sealed before its call, and what comes later at the end", () => {
  const seals = newHostSeals(SIGNER);
  seals.push(signature(0));
  seals.push(signature(1));
  assertEquals(seals.beforeCall(0, "a"), [{ ...named, call_id: "a" }]);
  assertEquals(seals.beforeCall(1, "b"), [{ ...named, call_id: "b" }]);
  seals.push(signature());
  assertEquals(seals.rest(), [named]);
  assertEquals(seals.rest(), []);
});

Deno.test("without a call, without a signer and above 256 KiB nothing is sealed", () => {
  const seals = newHostSeals(SIGNER);
  seals.push(signature());
  assertEquals(seals.rest(), []);
  const none = newHostSeals(null);
  none.push(signature());
  assertEquals([none.beforeCall(0, "a"), none.heldChars()], [[], 0]);
  const large = newHostSeals(SIGNER);
  large.push({ type: "extra_content", signature: { a: "x".repeat(256 * 1024) } });
  large.push(signature());
  assertEquals(large.beforeCall(0, "a"), []);
});
