import { assertEquals, assertMatch } from "../../support/assert.ts";
import { answers, chatRequest, COMPLETION, got, verdictOf } from "../../support/chat_call.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { scriptedWorld } from "../../support/world.ts";

const REFUSED = [429, "rate_limit_error", "rate_limit_exceeded"];
const STREAM = `data: ${
  JSON.stringify({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }],
  })
}\n\ndata: [DONE]\n\n`;

function limit(requests_per_minute: number, burst_size: number): string {
  return `rate_limiting: ${JSON.stringify({ enabled: true, requests_per_minute, burst_size })}\n`;
}

function gatewayOf(lines: string) {
  const world = scriptedWorld({
    async fetch(_url, init) {
      const isStream = (await new Response(init.body ?? "").text()).includes('"stream":true');
      return isStream
        ? await answers(200, STREAM, { "content-type": "text/event-stream" })
        : await answers(200, COMPLETION);
    },
  });
  return { world, ...testGateway(lines + oneProvider("http://up"), world) };
}

function peer(hostname: string, port = 1) {
  return { remoteAddr: { transport: "tcp", hostname, port } } as const;
}

function plain(path: string): Request {
  return new Request(`http://localhost${path}`, { headers: { host: "localhost" } });
}

function figures(headers: Headers): readonly (string | null)[] {
  return ["x-ratelimit-limit", "x-ratelimit-remaining", "retry-after"].map((name) =>
    headers.get(name)
  );
}

Deno.test("callers get their burst, then 429 with the time to wait, then their sustained rate", async () => {
  const { app, world, reports } = gatewayOf(limit(30, 2));
  const ask = async () => await got(await app(chatRequest(), peer("10.0.0.1")));
  assertEquals(figures((await ask()).headers), ["30", "1", null]);
  assertEquals(figures((await ask()).headers), ["30", "0", null]);
  await world.advance(500);
  const refused = await ask();
  assertEquals(verdictOf(refused), REFUSED);
  assertEquals(refused.error.param, null);
  assertEquals(figures(refused.headers), ["30", "0", "2"]);
  assertMatch(String(refused.error.message), /try again in 2 s/);
  assertEquals(reports[2]?.attempts, []);
  await world.advance(1_500);
  assertEquals((await ask()).status, 200);
  assertEquals((await ask()).status, 429);
});

Deno.test("without keys every address has a bucket; headers that name another do not count", async () => {
  const { app } = gatewayOf(limit(60, 1));
  const statusFrom = async (hostname: string, port: number, forwarded: string) => {
    const headers = { "x-forwarded-for": forwarded, forwarded: `for=${forwarded}` };
    const request = chatRequest({ headers });
    return (await got(await app(request, peer(hostname, port)))).status;
  };
  assertEquals(await statusFrom("10.0.0.1", 1, "1.1.1.1"), 200);
  assertEquals(await statusFrom("10.0.0.1", 2, "2.2.2.2"), 429);
  assertEquals(await statusFrom("10.0.0.2", 1, "1.1.1.1"), 200);
  assertEquals(await statusFrom("fd00::1", 1, "1.1.1.1"), 200);
});

Deno.test("callers over IPv6 share the bucket of their /64, and IPv4 in IPv6 is IPv4", async () => {
  const { app } = gatewayOf(limit(60, 1));
  const statusFrom = async (hostname: string) =>
    (await got(await app(chatRequest(), peer(hostname)))).status;
  assertEquals(await statusFrom("2001:db8:0:1::1"), 200);
  assertEquals(await statusFrom("2001:db8:0:1:ffff::2"), 429);
  assertEquals(await statusFrom("2001:db8:0:2::1"), 200);
  assertEquals(await statusFrom("::ffff:192.0.2.1"), 200);
  assertEquals(await statusFrom("192.0.2.1"), 429);
  assertEquals(await statusFrom("::ffff:192.0.2.2"), 200);
});

Deno.test("with keys every key has a bucket, wherever it calls from, and may have its own rate", async () => {
  const keys = [
    { name: "alice", value: "sk-alice" },
    { name: "bob", value: "sk-bob", requests_per_minute: 600 },
    { name: "10.0.0.1", value: "sk-odd" },
  ];
  const security = `security: ${JSON.stringify({ enabled: true, api_key: { keys } })}\n`;
  const { app, world } = gatewayOf(security + limit(60, 1));
  const ask = async (key: string, hostname: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const answer = await got(await app(chatRequest({ headers }), peer(hostname)));
    return [answer.status, ...figures(answer.headers)];
  };
  assertEquals(await ask("sk-alice", "10.0.0.1"), [200, "60", "0", null]);
  assertEquals(await ask("sk-alice", "10.0.0.2"), [429, "60", "0", "1"]);
  assertEquals(await ask("sk-bob", "10.0.0.1"), [200, "600", "0", null]);
  assertEquals(await ask("sk-odd", "10.0.0.1"), [200, "60", "0", null]);
  await world.advance(100);
  assertEquals(await ask("sk-bob", "10.0.0.1"), [200, "600", "0", null]);
  assertEquals(await ask("sk-alice", "10.0.0.1"), [429, "60", "0", "1"]);
});

Deno.test("a call that is refused for its key or its origin takes no token of a key", async () => {
  const security = "security: {enabled: true, api_key: {keys: [{name: a, value: k}]}}\n";
  const { app } = gatewayOf(security + limit(60, 1));
  const refused = [
    { authorization: "Bearer wrong" },
    {},
    { authorization: "Bearer k", origin: "https://evil.example" },
  ];
  for (const headers of [...refused, ...refused]) {
    await got(await app(chatRequest({ headers })));
  }
  const answer = await got(await app(chatRequest({ headers: { authorization: "Bearer k" } })));
  assertEquals(answer.status, 200);
});

Deno.test("every response below /v1/ has the rate limit headers, and no other response has them", async () => {
  const { app } = gatewayOf(limit(60, 100));
  const inside: readonly (readonly [status: number, request: Request])[] = [
    [200, chatRequest()],
    [200, chatRequest({ body: { stream: true } })],
    [200, plain("/v1/models")],
    [400, chatRequest({ body: { messages: [] } })],
    [404, plain("/v1/nowhere")],
    [405, plain("/v1/embeddings")],
  ];
  for (const [index, [status, request]] of inside.entries()) {
    const answer = await got(await app(request, peer("10.0.0.1")));
    assertEquals(answer.status, status, request.url);
    assertEquals(figures(answer.headers), ["60", String(99 - index), null], request.url);
  }
  for (const path of ["/health", "/ready", "/metrics", "/nowhere", "/"]) {
    const answer = await got(await app(plain(path), peer("10.0.0.1")));
    assertEquals(figures(answer.headers), [null, null, null], path);
  }
});

Deno.test("calls without a valid key take from the bucket of their address until they are 429", async () => {
  const security = "security: {enabled: true, api_key: {keys: [{name: a, value: k}]}}\n";
  const { app, world } = gatewayOf(security + limit(60, 3));
  const ask = async (headers: Readonly<Record<string, string>>, hostname = "10.0.0.1") => {
    const answer = await got(await app(chatRequest({ headers }), peer(hostname)));
    return [answer.status, ...figures(answer.headers)];
  };
  const wrong = { authorization: "Bearer wrong" };
  assertEquals(await ask(wrong), [401, "60", "2", null]);
  assertEquals(await ask({}), [401, "60", "1", null]);
  assertEquals(await ask({ origin: "https://evil.example" }), [403, null, null, null]);
  assertEquals(await ask(wrong), [401, "60", "0", null]);
  assertEquals(await ask(wrong), [429, "60", "0", "1"]);
  assertEquals(await ask({}), [429, "60", "0", "1"]);
  assertEquals(await ask(wrong, "10.0.0.2"), [401, "60", "2", null]);
  assertEquals(await ask({ authorization: "Bearer k" }), [200, "60", "2", null]);
  await world.advance(1_000);
  assertEquals(await ask(wrong), [401, "60", "0", null]);
  const off = gatewayOf(security);
  const answer = await got(await off.app(chatRequest()));
  assertEquals([answer.status, ...figures(answer.headers)], [401, null, null, null]);
});

Deno.test("without rate_limiting no client is limited, and no rate header is sent", async () => {
  for (const lines of ["", limit(1, 1).replace("true", "false")]) {
    const { app } = gatewayOf(lines);
    for (let count = 0; count < 20; count++) {
      const answer = await got(await app(chatRequest(), peer("10.0.0.1")));
      assertEquals([answer.status, ...figures(answer.headers)], [200, null, null, null]);
    }
  }
});

Deno.test("on a socket the address of the connection counts", async () => {
  const { app, reports } = gatewayOf(limit(60, 1));
  await using server = Deno.serve({ hostname: "0.0.0.0", port: 0, onListen() {} }, app);
  const statusAt = async (hostname: string) => {
    const url = `http://${hostname}:${server.addr.port}`;
    return (await got(await fetch(chatRequest({ url })))).status;
  };
  assertEquals([await statusAt("127.0.0.1"), await statusAt("127.0.0.1")], [200, 429]);
  assertEquals(reports.map(({ failure }) => failure?.kind), [undefined, "rate_limit_exceeded"]);
  const statusFrom = async (hostname: string) =>
    (await got(await app(chatRequest(), peer(hostname)))).status;
  assertEquals([await statusFrom("127.0.0.1"), await statusFrom("127.0.0.2")], [429, 200]);
});
