import { clientApis } from "../../src/api/registry.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { oneProvider, serveGateway, testGateway } from "../support/gateway.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { scriptedWorld } from "../support/world.ts";
import { connectRaw, IS_FRAMING_REFUSED_BY_RUNTIME } from "./raw_connection.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TENTHS = /^\d+\.\d$/;
const CHUNK = `data: ${
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }],
  })
}\n\n`;

function provider(): ScriptedUpstream {
  return startUpstream((exchange) =>
    exchange.request.body.includes('"stream":true')
      ? exchange.sse([CHUNK, "data: [DONE]\n\n"])
      : exchange.json(200, COMPLETION)
  );
}

/** Requests of every endpoint, right and wrong ones. */
function requests(url: string): Request[] {
  const everywhere = clientApis.flatMap((api) => api.endpoints).flatMap(({ method, path }) => {
    const address = url + path.replace(/:\w+(\{.*?\})?/g, "some-id");
    const methods = [method, method === "GET" ? "HEAD" : "GET", "PUT"];
    return methods.map((method) => new Request(address, { method }));
  });
  return [
    ...everywhere,
    chatRequest({ url }),
    chatRequest({ url, body: { stream: true } }),
    chatRequest({ url, body: { messages: [] } }),
    chatRequest({ url, headers: { "x-gateway-provider": "nobody" } }),
    new Request(`${url}/v1/chat/completions`, { method: "POST", body: "no json" }),
    new Request(`${url}/v1/nowhere`),
    new Request(`${url}/%zz//..%2f`),
    new Request(url),
  ];
}

Deno.test("every response has a unique id, its latency, no-transform and nosniff", async () => {
  await using upstream = provider();
  await using gateway = serveGateway(oneProvider(upstream.url));
  const seen = new Set<string>();
  for (const request of requests(gateway.url)) {
    const { status, headers } = await got(await fetch(request));
    const what = `${request.method} ${request.url}: ${status}`;
    const id = headers.get("x-gateway-request-id") ?? "";
    assertMatch(id, UUID, what);
    assertEquals(headers.get("x-request-id"), id, what);
    assert(!seen.has(id), what);
    seen.add(id);
    assertMatch(headers.get("x-gateway-latency-ms") ?? "", TENTHS, what);
    assertMatch(headers.get("x-gateway-overhead-duration-ms") ?? "", TENTHS, what);
    assertStringIncludes(headers.get("cache-control") ?? "", "no-transform", what);
    assertEquals(headers.get("x-content-type-options"), "nosniff", what);
    // The models that the gateway knows and what it stores are its own; all else with a provider is
    // not.
    const isForeign = headers.has("x-gateway-provider");
    const policy = isForeign ? "sandbox; default-src 'none'" : null;
    assertEquals(headers.get("content-security-policy"), policy, what);
  }
  assertEquals(gateway.reports.length, seen.size);
});

/** Requests as they are on the connection, each with the status of its response. */
const RAW_REQUESTS = [
  [101, "GET", "/v1/responses", {
    upgrade: "websocket",
    connection: "upgrade",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  }],
  [426, "GET", "/v1/responses", {}],
  [200, "GET", "/health", {}],
  [200, "GET", "/ready", {}],
  [200, "GET", "/metrics", {}],
  [200, "GET", "/v1/models", {}],
  [404, "GET", "/nowhere", {}],
  [404, "GET", "/v1/nowhere", {}],
  [404, "GET", "/v1/responses/resp_1", {}],
  [405, "DELETE", "/health", {}],
  [405, "PUT", "/v1/chat/completions", {}],
  [400, "POST", "/v1/chat/completions", {}],
  [415, "POST", "/v1/chat/completions", { "content-encoding": "gzip" }],
  [204, "OPTIONS", "/v1/models", {
    origin: "http://localhost:1",
    "access-control-request-method": "GET",
  }],
  [403, "GET", "/v1/models", { origin: "http://evil.test" }],
  [400, "POST", "/v1/chat/completions", { "content-length": "1", "transfer-encoding": "chunked" }],
] as const;

Deno.test("nosniff is on every kind of response: of a WebSocket, of the gateway's own paths, and of errors", async () => {
  await using gateway = serveGateway(oneProvider("http://127.0.0.1:1"));
  for (const [status, method, path, headers] of RAW_REQUESTS) {
    await using connection = await connectRaw(gateway.url);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    await connection.send(`${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${lines}\r\n`);
    const head = await connection.receiveUntil("\r\n\r\n");
    const what = `${method} ${path} ${lines}: ${head}`;
    assertStringIncludes(head, `HTTP/1.1 ${status} `, what);
    const isOfRuntime = IS_FRAMING_REFUSED_BY_RUNTIME && "transfer-encoding" in headers;
    assertMatch(
      head,
      isOfRuntime ? /^content-length: 0\r$/im : /^x-content-type-options: nosniff\r$/im,
      what,
    );
  }
});

Deno.test("the client's own request ID is ignored", async () => {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const gateway = testGateway(oneProvider("http://up"), world);
  const headers = { "x-gateway-request-id": "mine", "x-request-id": "mine" };
  const answer = await got(await gateway.app(chatRequest({ headers })));
  for (const name of ["x-gateway-request-id", "x-request-id"]) {
    assertEquals(answer.headers.get(name), "00000000-0000-4000-8000-000000000001");
  }
});

Deno.test("latency is the whole time, overhead is the time not spent waiting for the upstream", async () => {
  let now = 0;
  const world = {
    ...scriptedWorld(),
    now: () => now,
    random() {
      now += 40;
      return 0;
    },
    send() {
      now += 250;
      return answers(200, COMPLETION);
    },
  };
  const config = oneProvider("http://up").replace(
    "name: main",
    "name: main\n      strategy: random",
  );
  const { headers } = await got(await testGateway(config, world).app(chatRequest()));
  assertEquals(headers.get("x-gateway-overhead-duration-ms"), "40.0");
  assertEquals(headers.get("x-gateway-latency-ms"), "290.0");
});

Deno.test("nothing is compressed, whatever the client accepts", async () => {
  await using upstream = provider();
  await using gateway = serveGateway(oneProvider(upstream.url));
  for (const request of requests(gateway.url)) {
    await using connection = await connectRaw(gateway.url);
    const body = await request.text();
    const path = request.url.slice(gateway.url.length);
    await connection.send(
      `${request.method} ${path} HTTP/1.1\r\nhost: localhost\r\naccept-encoding: br, gzip\r\n` +
        `content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    );
    const head = await connection.receiveUntil("\r\n\r\n");
    assertMatch(head, /^HTTP\/1\.1 \d{3} /, path);
    assert(!/^content-encoding:/im.test(head), head);
  }
});

Deno.test("responses to HEAD have the headers of GET and no body", async () => {
  await using gateway = serveGateway(oneProvider("http://127.0.0.1:1"));
  for (const path of ["/health", "/ready"]) {
    await using connection = await connectRaw(gateway.url);
    await connection.send(`HEAD ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
    const head = await connection.receiveUntil("\r\n\r\n");
    assertMatch(head, /^HTTP\/1\.1 200 /);
    assertMatch(head, /content-type: application\/json/i);
    assertEquals(await connection.receiveUntil("nothing more"), "");
  }
});
