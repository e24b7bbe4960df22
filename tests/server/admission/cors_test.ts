import { assert, assertEquals } from "../../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../../support/chat_call.ts";
import { oneProvider, serveGateway, testGateway } from "../../support/gateway.ts";
import { startUpstream } from "../../support/upstream.ts";
import { scriptedWorld } from "../../support/world.ts";

const ORIGIN = "https://chat.example";
const SERVER = `server: {allowed_origins: ["${ORIGIN}"]}\n`;
const SECURITY = "security: {enabled: true, api_key: {keys: [{name: a, value: k}]}}\n";

function gatewayOf(lines = "") {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  return testGateway(SERVER + lines + oneProvider("http://up"), world);
}

function preflight(path: string, headers: Readonly<Record<string, string>> = {}): Request {
  return new Request(`http://localhost${path}`, {
    method: "OPTIONS",
    headers: { origin: ORIGIN, "access-control-request-method": "POST", ...headers },
  });
}

Deno.test("a preflight is 204 for every path, without key and without a token", async () => {
  const limit = "rate_limiting: {enabled: true, burst_size: 1}\n";
  const { app, reports } = gatewayOf(SECURITY + limit);
  for (const path of ["/v1/chat/completions", "/v1/models", "/v1/nowhere", "/health", "/"]) {
    const asked = "authorization,content-type, x-stainless-os";
    const response = await app(preflight(path, { "access-control-request-headers": asked }));
    assertEquals([response.status, await response.text()], [204, ""], path);
    const { headers } = response;
    assertEquals(headers.get("access-control-allow-origin"), ORIGIN);
    assertEquals(headers.get("access-control-allow-methods"), "GET, HEAD, POST, DELETE");
    assertEquals(headers.get("access-control-allow-headers"), asked);
    assertEquals(headers.get("access-control-max-age"), "600");
    assertEquals(headers.get("access-control-allow-credentials"), null);
    assertEquals(headers.get("vary"), "origin");
    assertEquals(headers.get("x-gateway-request-id"), reports.at(-1)?.id ?? null);
    assertEquals(headers.get("x-ratelimit-limit"), null);
  }
});

Deno.test("a preflight that names no header, or an invalid header, is granted none", async () => {
  const { app } = gatewayOf();
  for (const asked of ["", "a b", "a,,b", "a;b", "a: b"]) {
    const request = preflight("/v1/models", { "access-control-request-headers": asked });
    const { status, headers } = await app(request);
    assertEquals([status, headers.get("access-control-allow-headers")], [204, null], asked);
  }
  const { headers } = await app(preflight("/v1/models"));
  assertEquals(headers.get("access-control-allow-headers"), null);
});

Deno.test("OPTIONS that is no preflight is a method like any other", async () => {
  const { app } = gatewayOf();
  for (const headers of [{ "access-control-request-method": "POST" }, { origin: ORIGIN }]) {
    const request = new Request("http://localhost/health", { method: "OPTIONS", headers });
    const answer = await got(await app(request));
    assertEquals([answer.status, answer.headers.get("allow")], [405, "GET, HEAD"]);
  }
});

Deno.test("an accepted page may read every response, also errors, and the gateway's headers", async () => {
  const { app } = gatewayOf(SECURITY);
  const key = { authorization: "Bearer k" };
  const requests: readonly (readonly [status: number, request: Request])[] = [
    [200, chatRequest({ headers: { origin: ORIGIN, ...key } })],
    [400, chatRequest({ headers: { origin: ORIGIN, ...key }, body: { messages: [] } })],
    [401, chatRequest({ headers: { origin: ORIGIN } })],
    [404, new Request("http://localhost/nowhere", { headers: { origin: ORIGIN } })],
    [405, new Request("http://localhost/health", { method: "PUT", headers: { origin: ORIGIN } })],
  ];
  for (const [status, request] of requests) {
    const answer = await got(await app(request));
    assertEquals(answer.status, status);
    assertEquals(answer.headers.get("access-control-allow-origin"), ORIGIN);
    assertEquals(answer.headers.get("vary"), "origin");
    const exposed = (answer.headers.get("access-control-expose-headers") ?? "").split(", ");
    for (const [name] of answer.headers) {
      if (name.startsWith("x-gateway-")) assert(exposed.includes(name), name);
    }
    const read = ["x-request-id", "request-id", "x-ratelimit-limit", "x-ratelimit-remaining"];
    const carried = ["x-gateway-lossy", "x-gateway-verified", "x-gateway-state"];
    const ofFiles = ["content-disposition", "content-range"];
    for (const name of [...read, ...carried, ...ofFiles, "retry-after", "x-should-retry"]) {
      assert(exposed.includes(name), name);
    }
    assert(!exposed.includes("*"));
  }
});

Deno.test("an allowed page can read a stream, whatever CORS headers the provider sends", async () => {
  const chunk = {
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }],
  };
  await using upstream = startUpstream(async (exchange) => {
    if (exchange.request.body.includes('"stream":true')) {
      await exchange.sse([`data: ${JSON.stringify(chunk)}\n\n`, "data: [DONE]\n\n"]);
    } else {
      const theirs = {
        "access-control-allow-origin": "*",
        "access-control-allow-credentials": "true",
      };
      await exchange.json(400, { error: { message: "no" } }, theirs);
    }
  });
  await using gateway = serveGateway(SERVER + oneProvider(upstream.url));
  for (const stream of [true, false]) {
    const headers = { origin: ORIGIN };
    const answer = await got(
      await fetch(chatRequest({ url: gateway.url, headers, body: { stream } })),
    );
    assertEquals(answer.status, stream ? 200 : 400);
    assertEquals(answer.headers.get("access-control-allow-origin"), ORIGIN);
    assertEquals(answer.headers.get("access-control-allow-credentials"), null);
  }
  const plain = await got(await fetch(chatRequest({ url: gateway.url })));
  assertEquals(plain.headers.get("access-control-allow-origin"), null);
});
