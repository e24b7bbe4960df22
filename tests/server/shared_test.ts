import { type CallReport, MOST_TOLD, newReport } from "../../src/observe/report.ts";
import { keptRecords } from "../../src/server/shared.ts";
import { assertEquals } from "../support/assert.ts";
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

/** The report of one chat call; the first upstreams fail as often as told. */
async function reported(text: string, request: Request = {}, failures = 0): Promise<CallReport> {
  let fetches = 0;
  const { app, reported } = testGateway(
    text,
    scriptedWorld({
      fetch(url) {
        if (++fetches <= failures) return answers(500, "{}");
        const isStream = request.body?.stream === true;
        return answers(200, url.includes("near") ? OLLAMA : isStream ? STREAM : ANSWER);
      },
    }),
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
  return await reported(1);
}

Deno.test("while nothing is shared, nothing is kept", async () => {
  const off = "share_prompts: true, share_responses: true";
  const { shared, prompt, answer } = await reported(config(off));
  assertEquals([shared, prompt, answer], [null, null, null]);
});

Deno.test("what only the dashboard is told is put together for it", async () => {
  const { shared, prompt, answer } = await reported(config("enabled: true"), {
    body: { top_p: 0.25, top_k: 7 },
  });
  assertEquals([prompt, answer], [null, null]);
  assertEquals(shared?.(), {
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

Deno.test("a local runtime has its settings one level down, and top_k with them", async () => {
  const body = { model: "near/m", temperature: 0.75 };
  const { shared } = await reported(config("enabled: true"), { body });
  const told = shared?.();
  assertEquals([told?.temperature, told?.topP, told?.topK], [0.75, null, 40]);
  assertEquals([told?.upstreamRequestType, told?.targetIndex], ["chat", 1]);
});

Deno.test("a fallback stands behind the targets, and the breaker is the one of who served", async () => {
  const on = config("enabled: true", "circuit_breaker: {failure_threshold: 1}");
  const served = await reported(on, {}, 1);
  assertEquals(served.provider, "near");
  assertEquals([served.shared?.().targetIndex, served.shared?.().breaker], [1, "closed"]);
  const failed = await reported(on, { headers: { "x-gateway-no-fallback": "true" } }, 1);
  assertEquals([failed.shared?.().targetIndex, failed.shared?.().breaker], [0, "open"]);
});

Deno.test("a call that no provider got says nothing about one", async () => {
  const { shared } = await reported(config("enabled: true"), { body: { messages: [] } });
  assertEquals(shared?.(), {
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

Deno.test("no header of a caller is kept but the fourteen that may be", async () => {
  const told = {
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
  const { shared } = await reported(config("enabled: true"), { headers: { ...others, ...told } });
  assertEquals<unknown>(shared?.().headers, told);
});

Deno.test("a header that carries the keys of clients is not told, whatever its name", async () => {
  const security = "security: {enabled: true, api_key: {header: X-Team, prefix: '', " +
    "keys: [{name: a, value: key-of-a}]}}";
  const { shared, client } = await reported(config("enabled: true", security), {
    headers: { "x-team": "key-of-a", "x-app": "desk" },
  });
  assertEquals([client, shared?.().headers], ["a", { "x-app": "desk" }]);
});

Deno.test("request and answer are kept by their own switches, as they came and went", async () => {
  const asked = '{"model":"m","messages":[{"role":"user","content":"Hello"}]}';
  const prompts = await reported(config("enabled: true, share_prompts: true"));
  assertEquals([prompts.prompt, prompts.answer], [asked, null]);
  const { prompt, answer } = await reported(config("enabled: true, share_responses: true"));
  assertEquals(prompt, null);
  assertEquals(answer instanceof Uint8Array ? new TextDecoder().decode(answer) : "", ANSWER);
});

Deno.test("the events of a stream are kept as they went out", async () => {
  const { answer } = await reported(config("enabled: true, share_responses: true"), {
    body: { stream: true },
  });
  assertEquals(answer, STREAM);
});

Deno.test("no more of a stream is kept than is told, though all of it passes", async () => {
  const record = { event: null, data: "", raw: "x".repeat(MOST_TOLD) };
  const report = newReport("id", "POST", "/v1/chat/completions", 0);
  const groups = [[record], [record], [record], [record]];
  let passed = 0;
  for await (const group of keptRecords(ReadableStream.from(groups), report)) {
    passed += group.length;
  }
  assertEquals([passed, report.answer?.length], [4, 2 * MOST_TOLD]);
});
