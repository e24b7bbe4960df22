import { assertEquals } from "../support/assert.ts";
import { COMPLETION } from "../support/chat_call.ts";
import { oneProvider, serveGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";

const HOSTILE = {
  "alt-svc": 'h3="evil.test:443"',
  "clear-site-data": '"*"',
  "strict-transport-security": "max-age=1",
  "location": "http://evil.test/",
  "refresh": "0;url=http://evil.test/",
  "link": "<http://evil.test/>; rel=preload",
  "www-authenticate": "Basic",
  "content-security-policy": "default-src *",
  "set-cookie": "a=b",
  "x-named": "by the configuration",
};

const STREAM = [
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n`,
  "data: [DONE]\n\n",
];

const CHAT = "/v1/chat/completions";
const MESSAGES = [{ role: "user", content: "Hi" }];
const EMBEDDING = {
  object: "list",
  data: [{ object: "embedding", index: 0, embedding: [1] }],
  model: "m",
  usage: { prompt_tokens: 1, total_tokens: 1 },
};

/** What a client calls, the response of the provider, and whether named headers of it are passed on. */
const CALLS = [
  [CHAT, { model: "m", messages: MESSAGES }, 200, COMPLETION],
  [CHAT, { model: "m", messages: MESSAGES }, 400, { error: { message: "no" } }],
  [CHAT, { model: "m", messages: MESSAGES, stream: true }, 200, null],
  ["/v1/embeddings", { model: "m", input: "a" }, 200, EMBEDDING],
  ["/v1/audio/speech", { model: "m", input: "a", voice: "v" }, 200, null],
  ["/v1/moderations", { model: "m", input: "a" }, 200, { id: "m", model: "m", results: [] }],
] as const;

for (const [path, request, status, response] of CALLS) {
  const form = "stream" in request ? "stream" : response === null ? "bytes" : "JSON";
  Deno.test(`headers outside of the list stop in ${form} of ${path} with status ${status}`, async () => {
    await using upstream = startUpstream(async (exchange) => {
      if (form === "stream") {
        await exchange.head(200, { ...HOSTILE, "content-type": "text/event-stream" });
        for (const text of STREAM) await exchange.chunk(text);
        await exchange.finish();
        return;
      }
      if (response !== null) return exchange.json(status, response, HOSTILE);
      return exchange.json(200, {}, { ...HOSTILE, "content-type": "audio/mpeg" });
    });
    const settings = ", capabilities: {relay: [audio, moderations]}, pass_headers: [x-named]";
    await using gateway = serveGateway(oneProvider(upstream.url, settings));
    const answer = await fetch(gateway.url + path, {
      method: "POST",
      body: JSON.stringify(request),
    });
    assertEquals(answer.status, status, await answer.text());
    for (const name of Object.keys(HOSTILE)) {
      if (name === "x-named" || name === "content-security-policy") continue;
      assertEquals(answer.headers.get(name), null, name);
    }
    assertEquals(answer.headers.get("content-security-policy"), "sandbox; default-src 'none'");
  });
}
