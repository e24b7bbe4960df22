import { endOf } from "../../src/observe/report.ts";
import { heldUpstream } from "../e2e/held_upstream.ts";
import { connectRaw } from "../server/raw_connection.ts";
import { assertEquals, assertStringIncludes } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got, verdictOf } from "../support/chat_call.ts";
import { serveGateway } from "../support/gateway.ts";
import { reloadable } from "./reloadable.ts";

/** One failure would open a breaker, and another target would show. */
const CONFIG = `
providers:
  up: {type: compat, base_url: "http://up"}
  spare: {type: compat, base_url: "http://spare"}
routing: {routes: [{name: r, targets: [{provider: up}], fallback: [{provider: spare}]}]}
retry: {initial_delay: 20s, max_delay: 20s}
circuit_breaker: {failure_threshold: 1}
`;

const CHUNK = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",` +
  `"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n`;

const DRAINING = [503, "server_error", "draining"];

Deno.test("a call that waits for its provider is cancelled with 503", async () => {
  const upstream = heldUpstream();
  const { gateway, app, reports, world } = reloadable(CONFIG, { fetch: upstream.fetch });
  const running = app(chatRequest());
  await world.advance(0);
  assertEquals(gateway.state.inFlight.cancelAll(), 1);
  assertEquals(verdictOf(await got(await running)), DRAINING);
  assertEquals(upstream.isBrokenOff, true);
  assertEquals(reports.map(endOf), ["drained"]);
  assertEquals(reports[0]?.attempts.map(({ outcome }) => outcome), ["draining"]);
  const account = gateway.generation.providers.get("up")?.accounts[0].digest ?? "";
  assertEquals(gateway.state.breakers.state(account), "closed");
});

Deno.test("a call that waits for its retry is cancelled at once", async () => {
  const { gateway, app, reports, world } = reloadable(CONFIG, {
    fetch: () => answers(429, { error: { message: "later" } }),
  });
  const running = app(chatRequest());
  await world.advance(0);
  gateway.state.inFlight.cancelAll();
  assertEquals(verdictOf(await got(await running)), DRAINING);
  assertEquals(reports.map(endOf), ["drained"]);
  assertEquals(world.waiting, 0);
});

Deno.test("a call whose body arrives is cancelled with 503, however it is framed", async () => {
  await using gateway = serveGateway(CONFIG);
  const { inFlight, admission } = gateway.gateway.state;
  await using clients = new AsyncDisposableStack();
  const received: Promise<string>[] = [];
  for (
    const begun of [
      `content-length: 1000\r\n\r\n{"model":`,
      `content-length: 100000\r\n\r\n{"model":`,
      `transfer-encoding: chunked\r\n\r\n9\r\n{"model":\r\n`,
    ]
  ) {
    const raw = clients.use(await connectRaw(gateway.url));
    await raw.send(`POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n${begun}`);
    received.push(raw.receiveUntil("}}"));
  }
  // The whole of the small one is held before it arrives.
  while (admission.bodyBytes() < 1_000 + 2 * 9) await got(await fetch(`${gateway.url}/health`));
  inFlight.cancelAll();
  for (const text of await Promise.all(received)) assertStringIncludes(text, '"code":"draining"');
  await inFlight.idle();
  const ends = gateway.reports.filter(({ status }) => status === 503).map(endOf);
  assertEquals(ends, ["drained", "drained", "drained"]);
});

Deno.test("a stream is cut off with one failure terminal", async () => {
  const upstream = heldUpstream();
  const { gateway, app, reports } = reloadable(CONFIG, { fetch: upstream.fetch });
  const running = app(chatRequest({ body: { stream: true } }));
  upstream.answer();
  upstream.send(CHUNK);
  const response = await running;
  assertEquals(gateway.state.inFlight.cancelAll(), 1);
  const records = (await response.text()).split("\n\n");
  assertEquals(records.length, 4);
  assertEquals(records[0], CHUNK.trimEnd());
  assertEquals(records[1]?.includes('"code":"upstream_stream_error"'), true);
  assertEquals(records.slice(2), ["data: [DONE]", ""]);
  assertEquals(upstream.isBrokenOff, true);
  assertEquals(reports.map(endOf), ["drained"]);
  const account = gateway.generation.providers.get("up")?.accounts[0].digest ?? "";
  assertEquals(gateway.state.breakers.state(account), "closed");
  assertEquals(gateway.state.inFlight.count, 0);
});

Deno.test("a call that arrives after all calls were cancelled sends no request to a provider", async () => {
  const { gateway, app, reports } = reloadable(CONFIG, { fetch: () => answers(200, COMPLETION) });
  gateway.state.inFlight.cancelAll();
  assertEquals(verdictOf(await got(await app(chatRequest()))), DRAINING);
  assertEquals(reports[0]?.attempts, []);
});

Deno.test("a draining gateway still serves, but reports that it is not ready", async () => {
  const { gateway, app } = reloadable(CONFIG, { fetch: () => answers(200, COMPLETION) });
  const ask = async (path: string, method = "GET") =>
    await got(await app(new Request(`http://localhost${path}`, { method })));
  const before = await ask("/ready");
  assertEquals([before.status, before.text], [200, '{"status":"ready","providers":2}']);
  assertEquals(before.headers.get("connection"), null);
  gateway.state.inFlight.drain();
  const after = await ask("/ready");
  assertEquals([after.status, after.text], [503, '{"status":"draining"}']);
  assertEquals((await ask("/ready", "HEAD")).status, 503);
  assertEquals((await ask("/health")).status, 200);
  const chat = await got(await app(chatRequest()));
  assertEquals([chat.status, chat.headers.get("connection")], [200, "close"]);
});

Deno.test("idle is when the last byte of the last call is out", async () => {
  const upstream = heldUpstream();
  const { gateway, app } = reloadable(CONFIG, { fetch: upstream.fetch });
  const { inFlight } = gateway.state;
  await inFlight.idle();
  const response = app(chatRequest({ body: { stream: true } }));
  let isIdle = false;
  const idle = inFlight.idle().then(() => isIdle = true);
  upstream.answer();
  upstream.send(CHUNK);
  const reader = (await response).body?.getReader();
  await reader?.read();
  assertEquals([inFlight.count, isIdle], [1, false]);
  await reader?.cancel();
  await idle;
  assertEquals(inFlight.count, 0);
});
