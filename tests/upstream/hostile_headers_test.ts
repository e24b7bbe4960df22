import { assertEquals } from "../support/assert.ts";
import { COMPLETION } from "../support/chat_call.ts";
import { oneProvider, serveGateway } from "../support/gateway.ts";
import {
  nativeConfig,
  nativeGateway,
  responseOf,
  type ScriptedResponse,
  type SentRequest,
  streamOf,
} from "../support/native_gateway.ts";
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

/**
 * Calls of a client, with the response of the provider and whether named headers of it are passed
 * on.
 */
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
    assertClean(answer.headers, path);
  });
}

/**
 * Fails if a header outside of the list is there, or the page policy is not that of the gateway.
 */
function assertClean(headers: Headers, what: string): void {
  for (const name of Object.keys(HOSTILE)) {
    if (name === "x-named" || name === "content-security-policy") continue;
    assertEquals(headers.get(name), null, `${what}: ${name}`);
  }
  assertEquals(headers.get("content-security-policy"), "sandbox; default-src 'none'", what);
  assertEquals(headers.get("x-content-type-options"), "nosniff", what);
}

const NATIVE = nativeConfig({
  up: {
    can: ["responses_lifecycle", "response_cancellation", "conversations", "relay: [files]"],
    more: ["pass_headers: [x-named]"],
  },
});

/** A gateway whose provider responds to each path with this body and hostile headers. */
function hostileNative(bodyOf: (request: SentRequest) => ScriptedResponse["body"]) {
  return nativeGateway(NATIVE, (request) => {
    const body = bodyOf(request);
    const type = typeof body === "string" ? "text/event-stream" : "application/json";
    return { body, headers: { ...HOSTILE, "content-type": type, "x-request-id": "theirs" } };
  });
}

Deno.test("headers outside of the list stop in native responses and their streams", async () => {
  const gateway = hostileNative(({ json }) =>
    json.stream === true ? streamOf("resp_1") : responseOf("resp_1")
  );
  for (const stream of [false, true]) {
    const { status, headers, text } = await gateway.post("/responses", {
      model: "m",
      input: "x",
      stream,
    });
    assertEquals([status, text.includes("said in resp_1")], [200, true]);
    assertClean(headers, `stream: ${stream}`);
    assertEquals(headers.get("x-named"), "by the configuration");
  }
});

Deno.test("headers outside of the list stop in calls for what a provider has stored", async () => {
  const list = { object: "list", data: [], has_more: false };
  const conversation = { id: "conv_1", object: "conversation", created_at: 1, metadata: {} };
  const gateway = hostileNative(({ method, path, json }) => {
    if (path.includes("stream=true") || json.stream === true) return streamOf("resp_1");
    if (path.includes("/input_items") || path.includes("/items")) return list;
    if (path.startsWith("/conversations")) return conversation;
    return method === "DELETE"
      ? { id: "resp_1", object: "response", deleted: true }
      : responseOf("resp_1");
  });
  await gateway.post("/responses", { model: "m", input: "x" });
  await gateway.post("/conversations");
  const answers = {
    retrieve: await gateway.get("/responses/resp_1"),
    resume: await gateway.get("/responses/resp_1?stream=true"),
    cancel: await gateway.post("/responses/resp_1/cancel"),
    inputItems: await gateway.get("/responses/resp_1/input_items"),
    conversation: await gateway.get("/conversations/conv_1"),
    items: await gateway.get("/conversations/conv_1/items"),
    remove: await gateway.delete("/responses/resp_1"),
  };
  for (const [what, { status, headers }] of Object.entries(answers)) {
    assertEquals(status, 200, what);
    assertClean(headers, what);
    assertEquals(headers.get("x-named"), "by the configuration", what);
  }
});

Deno.test("an error of a provider about what it has stored has no headers outside of the list", async () => {
  const gateway = nativeGateway(
    NATIVE,
    ({ method }) =>
      method === "POST"
        ? { body: responseOf("resp_1") }
        : { status: 404, headers: HOSTILE, body: { error: { message: "gone" } } },
  );
  await gateway.post("/responses", { model: "m", input: "x" });
  const { status, headers } = await gateway.get("/responses/resp_1");
  assertEquals(status, 404);
  assertClean(headers, "error");
});

Deno.test("headers outside of the list stop before the cache, and its entries have no header of a provider", async () => {
  await using upstream = startUpstream(({ json }) =>
    json(200, EMBEDDING, { ...HOSTILE, "x-ratelimit-remaining-requests": "1" })
  );
  const config = `${
    oneProvider(upstream.url, ", pass_headers: [x-named]")
  }caching: {enabled: true}\n`;
  await using gateway = serveGateway(config);
  const seen: (string | null)[][] = [];
  for (let call = 0; call < 2; call++) {
    const { headers, body } = await fetch(`${gateway.url}/v1/embeddings`, {
      method: "POST",
      body: JSON.stringify({ model: "m", input: "a" }),
    });
    await body?.cancel();
    assertClean(headers, `call ${call}`);
    const names = ["x-gateway-cache-status", "x-named", "x-ratelimit-remaining-requests"];
    seen.push(names.map((name) => headers.get(name)));
  }
  assertEquals(seen, [["MISS", "by the configuration", "1"], ["HIT", null, null]]);
});
