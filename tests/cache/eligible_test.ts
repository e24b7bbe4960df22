import { assertEquals, assertStringIncludes } from "../support/assert.ts";
import { answers, chatRequest } from "../support/chat_call.ts";
import { cachedGateway, caching, completion, type SentRequest } from "./cached_gateway.ts";

function embeddings(body: string): Request {
  return new Request("http://localhost/v1/embeddings", { method: "POST", body });
}

function vectors(_asked: SentRequest, count: number): Promise<Response> {
  const data = [{ object: "embedding", index: 0, embedding: [count] }];
  return answers(200, { object: "list", data, model: "m" }, {
    "openai-processing-ms": `up-${count}`,
  });
}

Deno.test("the second of two identical chat calls gets the bytes of the first without an upstream", async () => {
  const text = '{ "id":"one", "object":"chat.completion","created":1, "model":"m","choices":[' +
    '{"index":0,"message":{"role":"assistant","content":"Grüße"},"finish_reason":"stop"}]}';
  const gateway = cachedGateway(caching(), () => answers(200, text));
  const first = await gateway.ask(chatRequest());
  const second = await gateway.ask(chatRequest());
  assertEquals([first.text, second.text], [text, text]);
  assertEquals(gateway.requests.length, 1);
  const header = (name: string) => [first, second].map(({ headers }) => headers.get(name));
  assertEquals(header("x-gateway-cache-status"), ["MISS", "HIT"]);
  assertEquals(header("x-gateway-provider"), ["up", "up"]);
  assertEquals(header("x-gateway-model"), ["m", "m"]);
  assertEquals(header("x-gateway-route"), ["main", "main"]);
  assertEquals(header("content-type"), ["application/json", "application/json"]);
  assertEquals(gateway.reports.map(({ cache }) => cache), ["MISS", "HIT"]);
  assertEquals(gateway.reports[1]?.attempts, []);
});

Deno.test("embeddings are cached; headers of the earlier call do not come again", async () => {
  const gateway = cachedGateway(caching(), vectors);
  const first = await gateway.ask(embeddings('{"model":"m","input":"a"}'));
  const second = await gateway.ask(embeddings('{"input":"a","model":"m"}'));
  assertEquals(second.text, first.text);
  assertEquals(first.headers.get("openai-processing-ms"), "up-1");
  assertEquals(second.headers.get("openai-processing-ms"), null);
  assertEquals(
    second.headers.get("x-request-id"),
    second.headers.get("x-gateway-request-id"),
  );
  assertEquals(second.headers.get("x-gateway-cache-status"), "HIT");
  assertEquals(await gateway.statusOf(embeddings('{"model":"m","input":"b"}')), "MISS");
});

Deno.test("nothing is looked up while the cache is off", async () => {
  const gateway = cachedGateway(caching().replace("enabled: true", "enabled: false"));
  assertEquals(await gateway.statusOf(chatRequest()), null);
  assertEquals(await gateway.statusOf(chatRequest()), null);
  assertEquals(gateway.requests.length, 2);
  assertEquals(gateway.kept(), [0, 0]);
});

Deno.test("a chat call with a store field bypasses the cache, whatever its value", async () => {
  const gateway = cachedGateway();
  for (const store of [true, false, null]) {
    assertEquals(await gateway.statusOf(chatRequest({ body: { store } })), null);
    assertEquals(await gateway.statusOf(chatRequest({ body: { store } })), null);
  }
  assertEquals(gateway.requests.length, 6);
  assertEquals(gateway.kept(), [0, 0]);
});

Deno.test("streaming bypasses the cache", async () => {
  const chunk = '{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}';
  const gateway = cachedGateway(
    caching(),
    () =>
      answers(200, `data: ${chunk}\n\ndata: [DONE]\n\n`, { "content-type": "text/event-stream" }),
  );
  for (let call = 1; call <= 2; call++) {
    const { headers, text } = await gateway.ask(chatRequest({ body: { stream: true } }));
    assertEquals(headers.get("x-gateway-cache-status"), null);
    assertStringIncludes(text, "[DONE]");
  }
  assertEquals(gateway.requests.length, 2);
  assertEquals(gateway.kept(), [0, 0]);
});

Deno.test("a caller can bypass the cache, for reading and for writing", async () => {
  const gateway = cachedGateway();
  const bypass = (value: string) => chatRequest({ headers: { "X-Gateway-No-Cache": value } });
  assertEquals(await gateway.statusOf(bypass("true")), null);
  assertEquals(await gateway.statusOf(bypass("TRUE")), null);
  assertEquals(gateway.kept(), [0, 0]);
  assertEquals(await gateway.statusOf(chatRequest()), "MISS");
  assertEquals(await gateway.statusOf(bypass("True")), null);
  assertEquals(await gateway.statusOf(bypass("false")), "HIT");
  assertEquals(gateway.requests.length, 4);
});

Deno.test("only responses with status 200 are cached", async () => {
  const wrong = [
    () => answers(500, '{"error":{"message":"no"}}'),
    () => answers(429, '{"error":{"message":"slow down"}}'),
    () => answers(400, '{"error":{"message":"bad"}}'),
    () => answers(204, ""),
    () => answers(200, '{"choices":[]}'),
    () => Promise.reject(new TypeError("no connection")),
  ];
  const gateway = cachedGateway(
    caching().replace("{enabled: false}", "{enabled: false}\ncircuit_breaker: {enabled: false}"),
    (request, count) => (wrong[count - 1] ?? (() => completion(request, count)))(),
  );
  for (let call = 0; call <= wrong.length; call++) {
    assertEquals(await gateway.statusOf(chatRequest()), "MISS", String(call));
    assertEquals(gateway.kept()[0], call < wrong.length ? 0 : 1, String(call));
  }
  assertEquals(await gateway.statusOf(chatRequest()), "HIT");
});

Deno.test("a call that is refused before a target is chosen has no cache header", async () => {
  const gateway = cachedGateway();
  const refused = chatRequest({ headers: { "X-Gateway-Provider": "other" } });
  assertEquals(await gateway.statusOf(refused), null);
  assertEquals(await gateway.statusOf(new Request("http://localhost/v1/models")), null);
});

Deno.test("identical calls at the same time each go upstream", async () => {
  const gateway = cachedGateway();
  const both = [gateway.statusOf(chatRequest()), gateway.statusOf(chatRequest())];
  assertEquals(await Promise.all(both), ["MISS", "MISS"]);
  assertEquals(gateway.requests.length, 2);
  assertEquals(await gateway.statusOf(chatRequest()), "HIT");
});

Deno.test("a cached response is served although the breaker is open", async () => {
  const gateway = cachedGateway(
    `${caching()}circuit_breaker: {failure_threshold: 1}`,
    (request, count) => count === 1 ? completion(request, count) : answers(500, "{}"),
  );
  await gateway.ask(chatRequest());
  const other = chatRequest({ body: { seed: 1 } });
  assertEquals((await gateway.ask(other.clone())).status, 500);
  const refused = await gateway.ask(other);
  assertEquals([refused.status, refused.error.code], [503, "circuit_open"]);
  assertEquals(refused.headers.get("x-gateway-cache-status"), "MISS");
  const hit = await gateway.ask(chatRequest());
  assertEquals([hit.status, hit.headers.get("x-gateway-cache-status")], [200, "HIT"]);
});
