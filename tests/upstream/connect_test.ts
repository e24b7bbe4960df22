import { gzipSync } from "node:zlib";
import { isObject, parseJson } from "../../src/core/json/json.ts";
import { samplesNamed } from "../observe/exposition.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { chatRequest, COMPLETION, got, verdictOf } from "../support/chat_call.ts";
import { oneProvider, serveGateway } from "../support/gateway.ts";
import { type OneResponseServer, oneResponseServer } from "../support/one_response_server.ts";
import { startUpstream } from "../support/upstream.ts";

const UNREACHABLE = [502, "upstream_error", "upstream_unreachable"];

Deno.test("a compressed response that was not requested is decompressed", async () => {
  await using upstream = startUpstream((exchange) => {
    const isStream = exchange.request.body.includes('"stream":true');
    const status = isStream ? 400 : 200;
    const body = gzipSync(JSON.stringify(isStream ? { error: { message: "No." } } : COMPLETION));
    return exchange.answer(status, { "content-encoding": "gzip", etag: "x" }, body);
  });
  await using gateway = serveGateway(oneProvider(upstream.url));
  const answer = await got(await fetch(chatRequest({ url: gateway.url })));
  assertEquals([answer.status, answer.text], [200, JSON.stringify(COMPLETION)]);
  const refused = await got(await fetch(chatRequest({ url: gateway.url, body: { stream: true } })));
  assertEquals([refused.status, refused.text], [400, '{"error":{"message":"No."}}']);
  for (const { headers } of [answer, refused]) {
    assertEquals([headers.get("content-encoding"), headers.get("etag")], [null, null]);
  }
  assertEquals(upstream.requests[0]?.headers["accept-encoding"], "identity");
});

Deno.test("a content coding is recognised in upper and lower case and by its old name", async () => {
  await using upstream = startUpstream((exchange) => {
    const coding = exchange.request.body.includes('"old"') ? "x-gzip" : "GZip";
    return exchange.answer(
      200,
      { "content-encoding": coding },
      gzipSync(JSON.stringify(COMPLETION)),
    );
  });
  await using gateway = serveGateway(oneProvider(upstream.url));
  for (const content of ["old", "new"]) {
    const body = { messages: [{ role: "user", content }] };
    const answer = await got(await fetch(chatRequest({ url: gateway.url, body })));
    assertEquals([answer.status, answer.text], [200, JSON.stringify(COMPLETION)]);
  }
});

Deno.test("the upstream's headers are dropped on successes of chat", async () => {
  await using upstream = startUpstream((exchange) =>
    exchange.json(200, COMPLETION, {
      "content-type": "application/json; charset=latin1",
      "set-cookie": "a=b",
      "x-ratelimit-remaining": "1",
      "x-request-id": "theirs",
      "openai-organization": "ours",
      "x-gateway-route": "liar",
      "cache-control": "max-age=60",
    })
  );
  await using gateway = serveGateway(oneProvider(upstream.url));
  const { headers } = await got(await fetch(chatRequest({ url: gateway.url })));
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(headers.get("x-gateway-route"), "main");
  assertEquals(headers.get("cache-control"), "no-transform");
  for (const name of ["set-cookie", "x-ratelimit-remaining", "openai-organization"]) {
    assertEquals(headers.get(name), null);
  }
  assertEquals(headers.get("x-request-id"), headers.get("x-gateway-request-id"));
});

Deno.test("the upstream gets the gateway's credentials and nothing else of the client", async () => {
  await using upstream = startUpstream((exchange) => exchange.json(200, COMPLETION));
  await using gateway = serveGateway(oneProvider(`${upstream.url}/base/`, ", organization: org"));
  const headers = {
    authorization: "Bearer client",
    "x-api-key": "client",
    cookie: "a=b",
    "openai-organization": "client",
    "x-custom": "client",
    "idempotency-key": "k",
  };
  await got(await fetch(chatRequest({ url: gateway.url, headers })));
  const [request] = upstream.requests;
  assert(request !== undefined);
  const { host, "content-length": _length, ...others } = request.headers;
  assertEquals([request.method, request.path], ["POST", "/base/chat/completions"]);
  assertEquals(`http://${host}`, upstream.url);
  assertEquals(others, {
    accept: "*/*",
    "accept-encoding": "identity",
    "accept-language": "*",
    authorization: "Bearer sk-upstream-secret",
    "content-type": "application/json",
    "idempotency-key": "k",
    "openai-organization": "org",
    "user-agent": "switchyard",
  });
});

/** An upstream that breaks each connection on its second request. */
function breakingUpstream() {
  return oneResponseServer(JSON.stringify(COMPLETION));
}

/** Returns the first characters of `user` in each received request. */
function usersIn({ bodies }: OneResponseServer): string[] {
  return bodies.map((text) => {
    const sent = parseJson(text);
    return isObject(sent) && typeof sent.user === "string" ? sent.user.slice(0, 3) : "";
  });
}

const WITH_RETRIES = "retry: {max_attempts: 3, initial_delay: 0s}";

Deno.test("a call whose reused connection was closed is sent again at once on a new one, and that is no failure", async () => {
  for (const padding of ["", "x".repeat(300_000)]) {
    await using upstream = breakingUpstream();
    const strict = oneProvider(upstream.url) + "circuit_breaker: {failure_threshold: 1}\n";
    await using gateway = serveGateway(strict);
    for (const user of ["one", "two", "six"]) {
      const body = { user: `${user}${padding}` };
      const answer = await got(await fetch(chatRequest({ url: gateway.url, body })));
      assertEquals([answer.status, answer.text], [200, JSON.stringify(COMPLETION)]);
    }
    assertEquals(usersIn(upstream), ["one", "two", "two", "six", "six"]);
    assertEquals(upstream.connections(), 3);
    const tries = gateway.reports.map(({ attempts }) =>
      attempts.map(({ outcome }) => outcome).join()
    );
    assertEquals(tries, ["success", "success", "success"]);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    assertEquals(samplesNamed(metrics, "gateway_upstream_reconnects_total"), {
      '{provider="up"}': 2,
    });
    assertEquals(samplesNamed(metrics, "gateway_retries_total"), {});
    assertEquals(samplesNamed(metrics, "gateway_upstream_failures_total"), {});
  }
});

Deno.test("a call with side effects is written once, also when its reused connection was closed", async () => {
  for (const padding of ["", "x".repeat(300_000)]) {
    await using upstream = breakingUpstream();
    const settings = ", capabilities: {chat_completions_lifecycle: true}";
    const config = oneProvider(upstream.url, settings)
      .replace("retry: {enabled: false}", WITH_RETRIES);
    await using gateway = serveGateway(config);
    const body = { user: `one${padding}` };
    assertEquals((await got(await fetch(chatRequest({ url: gateway.url, body })))).status, 200);
    const second = chatRequest({ url: gateway.url, body: { user: `two${padding}`, store: true } });
    assertEquals(verdictOf(await got(await fetch(second))), UNREACHABLE);
    assertEquals(usersIn(upstream), ["one", "two"]);
    assertEquals(upstream.connections(), 1);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    assertEquals(samplesNamed(metrics, "gateway_upstream_reconnects_total"), {});
    assertEquals(samplesNamed(metrics, "gateway_upstream_failures_total"), {
      '{provider="up",cause="closed"}': 1,
    });
  }
});

Deno.test("an error of the network names no address", async () => {
  for (const address of ["http://127.0.0.1:1/secret-path", "http://no-such-host.invalid"]) {
    await using gateway = serveGateway(oneProvider(address));
    const answer = await got(await fetch(chatRequest({ url: gateway.url })));
    assertEquals(verdictOf(answer), UNREACHABLE);
    assert(!/127\.0|invalid|secret|http/.test(answer.text), answer.text);
  }
});
