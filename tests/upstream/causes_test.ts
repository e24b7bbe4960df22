import { CONNECTION_CAUSES } from "../../src/core/failure/connection_error.ts";
import { isObject, parseJson } from "../../src/core/json/json.ts";
import { listenWith } from "../http_client/certificates.ts";
import { samplesNamed } from "../observe/exposition.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { chatRequest, got } from "../support/chat_call.ts";
import { oneProvider, type ServedGateway, serveGateway } from "../support/gateway.ts";
import { startUpstream, type UpstreamScript } from "../support/upstream.ts";

const CHUNK = JSON.stringify({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta: { content: "Hi" } }],
});

/** The fields of the log lines with this message. */
function linesOf({ log }: ServedGateway, msg: string): Record<string, unknown>[] {
  return log.map((line) => parseJson(line)).filter((line) => isObject(line))
    .filter((line) => line.msg === msg);
}

/** Calls once; the cause is in the log and in the metrics, and nowhere in the answer. */
async function assertCause(baseUrl: string, cause: string, isStream = false): Promise<void> {
  await using gateway = serveGateway(oneProvider(baseUrl));
  const body = { stream: isStream };
  const answer = await got(await fetch(chatRequest({ url: gateway.url, body })));
  assertEquals(answer.status, isStream ? 200 : 502, cause);
  const headers = JSON.stringify([...answer.headers]);
  assert(!`${answer.text}${headers}`.includes(`"${cause}"`), answer.text);
  await gateway.reported(1);
  const [access] = linesOf(gateway, "request");
  assertEquals(access?.upstream_cause, cause);
  assertEquals(
    linesOf(gateway, "connection failed").map((line) => line.cause),
    isStream ? [] : [cause],
  );
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assertEquals(samplesNamed(metrics, "gateway_upstream_failures_total"), {
    [`{provider="up",cause="${cause}"}`]: 1,
  });
  assert(CONNECTION_CAUSES.some((one) => one === cause));
}

Deno.test("a connection that cannot be made has its cause in the log and the metrics alone", async () => {
  await assertCause("http://127.0.0.1:1", "refused");
  await assertCause("http://no-such-host.invalid", "dns");
  const listener = listenWith("named.pem");
  const serving = hangingUp(listener);
  await assertCause(`https://127.0.0.1:${listener.port}`, "tls_untrusted");
  listener.close();
  await serving;
});

/** Accepts, and closes what is not trusted. */
async function hangingUp(listener: Deno.TlsListener): Promise<void> {
  for await (const connection of listener) {
    await connection.handshake().catch(() => {});
    connection.close();
  }
}

const BREAKAGES: readonly (readonly [cause: string, script: UpstreamScript])[] = [
  ["closed", () => Promise.resolve()],
  ["reset", (exchange) => Promise.resolve(exchange.reset())],
  ["malformed", (exchange) => exchange.write("HTTP/1.1 200 OK\r\nbad header\r\n\r\n")],
  ["closed", (exchange) => exchange.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{")],
  [
    "malformed",
    (exchange) =>
      exchange.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nno size\r\n"),
  ],
  ["malformed", (exchange) => exchange.answer(200, { "content-encoding": "gzip" }, "no gzip")],
];

Deno.test("a response that breaks off has its cause in the log and the metrics alone", async () => {
  for (const [cause, script] of BREAKAGES) {
    await using upstream = startUpstream(script);
    await assertCause(upstream.url, cause);
  }
});

Deno.test("a stream that breaks off has its cause in the log and the metrics alone", async () => {
  await using upstream = startUpstream(async (exchange) => {
    await exchange.head(200, { "content-type": "text/event-stream" });
    await exchange.chunk(`data: ${CHUNK}\n\n`);
  });
  await assertCause(upstream.url, "closed", true);
});

Deno.test("a list of models that cannot be fetched counts with its cause", async () => {
  await using gateway = serveGateway(oneProvider("http://127.0.0.1:1", ", models: {mode: fetch}"));
  await (await fetch(`${gateway.url}/v1/models`)).text();
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assertEquals(samplesNamed(metrics, "gateway_upstream_failures_total"), {
    '{provider="up",cause="refused"}': 1,
  });
});

Deno.test("a call that is served, and one that its provider refuses, have no cause", async () => {
  await using upstream = startUpstream((exchange) =>
    exchange.json(500, { error: { message: "No." } })
  );
  await using gateway = serveGateway(oneProvider(upstream.url));
  await got(await fetch(chatRequest({ url: gateway.url })));
  const [access] = linesOf(gateway, "request");
  assert(access !== undefined && !("upstream_cause" in access));
});

Deno.test("a call with side effects falls back after a connect timeout", async () => {
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0, tcpBacklog: 1 });
  const { port } = silent.addr;
  using _first = await Deno.connect({ hostname: "127.0.0.1", port });
  using _second = await Deno.connect({ hostname: "127.0.0.1", port });
  for (
    const [setting, outcome] of [
      ["connect_timeout: 1ms", "upstream_unreachable"],
      ["timeout: 1ms", "upstream_timeout"],
    ]
  ) {
    await using other = startUpstream((exchange) => exchange.json(200, { ...STORED }));
    const lifecycle = "capabilities: {chat_completions_lifecycle: true}";
    await using gateway = serveGateway(`
providers:
  slow: {type: compat, base_url: "http://127.0.0.1:${port}", ${setting}, ${lifecycle}}
  other: {type: compat, base_url: "${other.url}", ${lifecycle}}
routing: {routes: [{name: r, targets: [{provider: slow}], fallback: [{provider: other}]}]}
retry: {enabled: false}
`);
    const request = chatRequest({ url: gateway.url, body: { store: true } });
    assertEquals((await got(await fetch(request))).status, 200);
    const tries = gateway.reports[0]?.attempts.map(({ outcome, cause }) => [outcome, cause]);
    assertEquals(tries, [[outcome, "timeout"], ["success", null]]);
  }
});

const STORED = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
};
