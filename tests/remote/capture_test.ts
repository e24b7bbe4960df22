import { UNKNOWN_ENDPOINT } from "../../src/core/endpoint.ts";
import { compile } from "../../src/gateway/compile.ts";
import { newGateway } from "../../src/gateway/gateway.ts";
import { type CapturedCall, MAX_SHARED_CHARS, newCapture } from "../../src/remote/capture.ts";
import { newCall } from "../../src/server/new_call.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const ANSWER =
  '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,' +
  '"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}';
const CHUNK = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":' +
  '[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}';
const STREAM = `data: ${CHUNK}\n\ndata: [DONE]\n\n`;
const OLLAMA = '{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant",' +
  '"content":"Hi"},"done":true,"done_reason":"stop"}';

function config(switches: string, more = ""): string {
  return `
providers:
  up: {type: compat, base_url: "http://user:pass@up.example:81/v1/", api_key: k, temperature: 0.5}
  near: {type: local, base_url: "http://near.example", top_k: 40}
routing:
  routes:
    - name: local
      match: {models: [near/*]}
      targets: [{provider: up, weight: 0}, {provider: near}]
    - name: main
      targets: [{provider: up, model: m}]
      fallback: [{provider: near, model: m}]
retry: {enabled: false}
general: {api_key: k, backend_url: "http://127.0.0.1:1"}
data_sharing: {${switches}}
${more}`;
}

interface Request {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

/**
 * Returns the captured content of one chat call, null for none; the first `failures` attempts fail.
 */
async function captured(
  text: string,
  request: Request = {},
  failures = 0,
): Promise<CapturedCall | null> {
  let fetches = 0;
  const calls: CapturedCall[] = [];
  const { app, reported } = testGateway(
    text,
    scriptedWorld({
      fetch(url) {
        if (++fetches <= failures) return answers(500, "{}");
        const isStream = request.body?.stream === true;
        return answers(200, url.includes("near") ? OLLAMA : isStream ? STREAM : ANSWER);
      },
    }),
    {
      newCapture: ({ id, generation, state }) =>
        newCapture(generation.config, (call) => void calls.push(call), id, state.admission),
    },
  );
  const { body = {}, headers = {}, path = "/v1/chat/completions" } = request;
  const messages = [{ role: "user", content: "Hello" }];
  const response = await app(
    new Request(`http://127.0.0.1${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify({ model: "m", messages, ...body }),
    }),
  );
  await response.bytes();
  await reported(1);
  assert(calls.length <= 1);
  return calls[0] ?? null;
}

Deno.test("nothing is captured while sharing is off", async () => {
  const off = "share_prompts: true, share_responses: true";
  assertEquals(await captured(config(off)), null);
});

Deno.test("fields that only the dashboard receives are built for it", async () => {
  const call = await captured(config("enabled: true"), { body: { top_p: 0.25, top_k: 7 } });
  assertEquals([call?.prompt, call?.response], [null, null]);
  assertEquals(call?.fields(), {
    headers: {},
    upstreamRequestType: "chat_completions",
    targetIndex: 0,
    breaker: "closed",
    baseUrl: "http://up.example:81/v1",
    temperature: 0.5,
    topP: 0.25,
    topK: null,
  });
});

Deno.test("fields of a call to a local provider come from the options of its upstream request, with top_k", async () => {
  const body = { model: "near/m", temperature: 0.75 };
  const shared = (await captured(config("enabled: true"), { body }))?.fields();
  assertEquals([shared?.temperature, shared?.topP, shared?.topK], [0.75, null, 40]);
  assertEquals([shared?.upstreamRequestType, shared?.targetIndex], ["chat", 1]);
});

Deno.test("a fallback is listed after the targets, and the breaker is that of the serving provider", async () => {
  const on = config("enabled: true", "circuit_breaker: {failure_threshold: 1}");
  const served = await captured(on, {}, 1);
  assertEquals(served?.report.provider, "near");
  assertEquals([served?.fields().targetIndex, served?.fields().breaker], [1, "closed"]);
  const failed = await captured(on, { headers: { "x-gateway-no-fallback": "true" } }, 1);
  assertEquals([failed?.fields().targetIndex, failed?.fields().breaker], [0, "open"]);
});

Deno.test("a call without an attempt has no provider fields", async () => {
  const call = await captured(config("enabled: true"), { body: { messages: [] } });
  assertEquals(call?.fields(), {
    headers: {},
    upstreamRequestType: null,
    targetIndex: null,
    breaker: null,
    baseUrl: null,
    temperature: null,
    topP: null,
    topK: null,
  });
});

Deno.test("only the fourteen permitted request headers are captured", async () => {
  const shared = {
    "x-environment": "prod",
    "x-gateway-request-type": "chat",
    "x-gateway-provider": "up",
    "x-gateway-model": "m",
    "x-gateway-route": "main",
    "x-gateway-complexity": "high",
    "x-gateway-complexity-score": "0.9",
    "x-gateway-skill": "law",
    "x-team": "blue",
    "x-app": "desk",
    "x-gateway-user": "ada",
    "x-gateway-sessionid": "s-1",
    "x-gateway-client-lat": "1.5",
    "x-gateway-client-lon": "-2.5",
  };
  const others = {
    "authorization": "Bearer secret",
    "cookie": "secret=1",
    "x-api-key": "secret",
    "x-team-secret": "secret",
    "x-gateway-no-retry": "true",
    "x-forwarded-for": "10.0.0.1",
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  };
  const call = await captured(config("enabled: true"), { headers: { ...others, ...shared } });
  assertEquals<unknown>(call?.fields().headers, shared);
});

Deno.test("the header with the client keys is never shared, whatever its name is", async () => {
  const security = "security: {enabled: true, api_key: {header: X-Team, prefix: '', " +
    "keys: [{name: a, value: key-of-a}]}}";
  const call = await captured(config("enabled: true", security), {
    headers: { "x-team": "key-of-a", "x-app": "desk" },
  });
  assertEquals([call?.report.client, call?.fields().headers], ["a", { "x-app": "desk" }]);
});

Deno.test("the header that names the end users of a client key is not shared", async () => {
  const security = "security: {enabled: true, api_key: {keys: " +
    "[{name: a, value: key-of-a, end_users: {header: X-Gateway-User}}]}}";
  const call = await captured(config("enabled: true", security), {
    headers: { "authorization": "Bearer key-of-a", "x-gateway-user": "ada", "x-app": "desk" },
  });
  assertEquals([call?.report.client, call?.fields().headers], ["a", { "x-app": "desk" }]);
  const old = await captured(config("enabled: true", security), {
    headers: { "authorization": "Bearer old-key", "x-gateway-user": "ada", "x-app": "desk" },
  });
  assertEquals([old?.report.client, old?.fields().headers], [null, { "x-app": "desk" }]);
});

Deno.test("request and response are captured unchanged, each by its own switch", async () => {
  const asked = '{"model":"m","messages":[{"role":"user","content":"Hello"}]}';
  const prompts = await captured(config("enabled: true, share_prompts: true"));
  assertEquals([prompts?.prompt, prompts?.response], [asked, null]);
  const call = await captured(config("enabled: true, share_responses: true"));
  assertEquals(call?.prompt, null);
  assert(call?.response instanceof Uint8Array);
  assertEquals(new TextDecoder().decode(call.response), ANSWER);
});

Deno.test("the events of a stream are captured as sent", async () => {
  const call = await captured(config("enabled: true, share_responses: true"), {
    body: { stream: true },
  });
  assertEquals(call?.response, STREAM);
});

Deno.test("the error of a refused call is captured as its client receives it", async () => {
  const call = await captured(config("enabled: true, share_responses: true"), {
    path: "/v1/unknown",
  });
  assert(call?.response instanceof Uint8Array);
  assertEquals(JSON.parse(new TextDecoder().decode(call.response)).error.code, "unknown_url");
});

Deno.test("only the shared part of a stream is stored, though the client receives all of it", async () => {
  const calls: CapturedCall[] = [];
  const on = configOf(config("enabled: true, share_responses: true"));
  const gateway = newGateway(compile(on, 1), scriptedWorld(), []);
  const { admission } = gateway.state;
  const capture = newCapture(on, (call) => void calls.push(call), "id", admission);
  assert(capture !== null);
  const record = { event: null, data: "", raw: "x".repeat(MAX_SHARED_CHARS) };
  const groups = [[record], [record], [record], [record]];
  const { records } = capture.reply({
    kind: "stream",
    headers: {},
    records: ReadableStream.from(groups),
  });
  let passed = 0;
  for await (const group of records) passed += group.length;
  assertEquals(admission.bodyBytes(), MAX_SHARED_CHARS);
  capture.end(newCall(gateway, new Request("http://localhost/"), "/", UNKNOWN_ENDPOINT));
  assertEquals([passed, calls[0]?.response?.length], [4, MAX_SHARED_CHARS + 1]);
  assertEquals(admission.bodyBytes(), 0);
});

Deno.test("captured content is dropped when body memory is full, and its client receives all of it", async () => {
  const calls: CapturedCall[] = [];
  const on = configOf(
    `${config("enabled: true, share_responses: true")}server: {max_body_memory: 300000}\n`,
  );
  const gateway = newGateway(compile(on, 1), scriptedWorld(), []);
  const { admission } = gateway.state;
  const capture = newCapture(on, (call) => void calls.push(call), "id", admission);
  assert(capture !== null);
  const record = { event: null, data: "", raw: "x".repeat(100_000) };
  const { records } = capture.reply({
    kind: "stream",
    headers: {},
    records: ReadableStream.from(Array.from({ length: 6 }, () => [record])),
  });
  const held: number[] = [];
  for await (const _group of records) held.push(admission.bodyBytes());
  assertEquals(held, [100_000, 200_000, 300_000, 0, 0, 0]);
  capture.end(newCall(gateway, new Request("http://localhost/"), "/", UNKNOWN_ENDPOINT));
  assertEquals([calls[0]?.response, admission.bodyBytes()], [null, 0]);
});
