import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { answers, COMPLETION, MESSAGES } from "../support/chat_call.ts";
import { oneProvider } from "../support/gateway.ts";
import { executed, startRemote } from "../support/remote.ts";

const CONFIG = `
providers:
  up: {type: compat, base_url: "http://up.test/v1", api_key: sk-upstream-secret}
  second: {type: compat, base_url: "http://second.test/v1"}
  unrouted: {type: compat, base_url: "http://unrouted.test/v1"}
routing:
  routes:
    - name: main
      targets: [{provider: up}]
    - name: "Größe 日本"
      targets: [{provider: second, model: big}]
    - name: spare
      targets: [{provider: second}, {provider: up}]
retry: {enabled: false}
`;

const CHUNKS = [
  {
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { role: "assistant", content: "Hi" }, finish_reason: null }],
  },
  {
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
  },
];

/** A provider that stores its requests and responds with a completion. */
function provider() {
  const asked: { readonly url: string; readonly body: string }[] = [];
  return {
    asked,
    async fetch(url: string, { body }: RequestInit) {
      asked.push({ url, body: await new Response(body ?? null).text() });
      const headers = { "content-type": "application/json", "x-private": "kept" };
      return await answers(200, COMPLETION, headers);
    },
  };
}

function bodyOf({ body }: JsonObject): JsonObject {
  const value = typeof body === "string" ? parseJson(body) : undefined;
  assert(isObject(value), `no object: ${JSON.stringify(body)}`);
  return value;
}

Deno.test("a command with a route is served by it, and returns only safe headers", async () => {
  const { asked, fetch } = provider();
  await using remote = startRemote({ config: CONFIG, fetch });
  const { headers, body, ...rest } = await executed(await remote.socket());
  assertEquals(rest, {
    type: "sandbox.response",
    command_id: "c-1",
    ok: true,
    status_code: 200,
    error: null,
  });
  assertEquals(bodyOf({ body }), COMPLETION);
  assert(isObject(headers));
  const { "x-gateway-request-id": id, ...shown } = headers;
  assertMatch(String(id), /^[0-9a-f-]{36}$/);
  assertEquals(shown, {
    "content-type": "application/json",
    "x-gateway-provider": "up",
    "x-gateway-model": "m",
    "x-gateway-route": "main",
  });
  assertEquals(asked.map(({ url }) => url), ["http://up.test/v1/chat/completions"]);
});

Deno.test("a route may have a name beyond ASCII", async () => {
  const { asked, fetch } = provider();
  await using remote = startRemote({ config: CONFIG, fetch });
  const response = await executed(await remote.socket(), {
    target: { mode: "route", value: "Größe 日本" },
    request: MESSAGES,
  });
  assertEquals(response.ok, true);
  assertEquals(asked.map(({ url }) => url), ["http://second.test/v1/chat/completions"]);
});

Deno.test("a command with a model requests that model, also a canonical one", async () => {
  const { asked, fetch } = provider();
  await using remote = startRemote({ config: CONFIG, fetch });
  const socket = await remote.socket();
  for (const value of ["llama", "up/llama"]) {
    const response = await executed(socket, { target: { mode: "model", value } });
    assertEquals(response.ok, true, JSON.stringify(response));
  }
  const models = asked.map(({ url, body }) => [url, bodyOf({ body }).model]);
  assertEquals(models, Array(2).fill(["http://up.test/v1/chat/completions", "llama"]));
});

Deno.test("no command reaches a provider without a route", async () => {
  const { asked, fetch } = provider();
  await using remote = startRemote({ config: CONFIG, fetch });
  const socket = await remote.socket();
  const elsewhere = await executed(socket, { target: { mode: "model", value: "unrouted/m" } });
  assertEquals([elsewhere.ok, elsewhere.status_code], [false, 400]);
  assertStringIncludes(String(elsewhere.body), '"provider_not_found"');
  const nowhere = await executed(socket, { target: { mode: "route", value: "none" } });
  assertEquals([nowhere.ok, nowhere.status_code], [false, 502]);
  assertStringIncludes(String(nowhere.body), '"routing_error"');
  assertStringIncludes(String(nowhere.error), "502");
  assertEquals(asked, []);
});

Deno.test("a streamed response is returned complete, with its terminal", async () => {
  const events = CHUNKS.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  await using remote = startRemote({
    config: CONFIG,
    fetch: () => answers(200, `${events}data: [DONE]\n\n`, { "content-type": "text/event-stream" }),
  });
  const response = await executed(await remote.socket(), {
    request: { model: "m", stream: true, ...MESSAGES },
  });
  assertEquals([response.ok, response.status_code], [true, 200]);
  assert(isObject(response.headers));
  assertEquals(response.headers["content-type"], "text/event-stream");
  const text = String(response.body);
  assertStringIncludes(text, '"content":"Hi"');
  assert(text.endsWith("data: [DONE]\n\n"), text);
});

Deno.test("a command selects Responses or embeddings by its request type", async () => {
  const embedding = { object: "embedding", index: 0, embedding: [0.5] };
  const asked: string[] = [];
  await using remote = startRemote({
    config: CONFIG,
    fetch(url) {
      asked.push(url);
      return url.endsWith("/embeddings")
        ? answers(200, { object: "list", data: [embedding], model: "m" })
        : answers(200, COMPLETION);
    },
  });
  const socket = await remote.socket();
  const input = { model: "m", input: "Hi" };
  const vectors = await executed(socket, { request_type: "embeddings", request: input });
  assertEquals(bodyOf(vectors).data, [embedding]);
  const made = await executed(socket, { request_type: "responses", request: input });
  assertEquals(bodyOf(made).object, "response");
  assertEquals(asked, ["http://up.test/v1/embeddings", "http://up.test/v1/chat/completions"]);
});

Deno.test("numbers arrive at the provider as the dashboard wrote them", async () => {
  const { asked, fetch } = provider();
  await using remote = startRemote({ config: CONFIG, fetch });
  const socket = await remote.socket();
  const request = '{"model":"m","messages":[{"role":"user","content":"Hi"}],' +
    '"temperature":1.0,"seed":12345678901234567}';
  const target = '{"mode":"model","value":"m"}';
  socket.send(
    `{"type":"sandbox.execute","command_id":"c","request_type":"chat_completions",` +
      `"target":${target},"request":${request}}`,
  );
  await socket.receive();
  assertStringIncludes(asked[0]?.body ?? "", '"temperature":1.0,"seed":12345678901234567');
});

Deno.test("a command follows the policies of the gateway", async () => {
  const { asked, fetch } = provider();
  const limit = "rate_limiting: {enabled: true, requests_per_minute: 1, burst_size: 1}\n";
  const config = oneProvider("http://up.test/v1") + limit;
  await using remote = startRemote({ config, fetch });
  const socket = await remote.socket();
  assertEquals((await executed(socket)).ok, true);
  const { ok, status_code } = await executed(socket);
  assertEquals([ok, status_code], [false, 429]);
  assertEquals(asked.length, 1);
});
