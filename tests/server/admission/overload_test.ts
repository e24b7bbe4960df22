import type { GatewayOptions } from "../../../src/gateway/gateway.ts";
import { takePlace } from "../../../src/server/admission/overload.ts";
import { newCall } from "../../../src/server/new_call.ts";
import { endpointAt } from "../../observe/reports.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { answers, chatRequest, COMPLETION, got, verdictOf } from "../../support/chat_call.ts";
import { create } from "../../support/socket_client.ts";
import { oneProvider, serveGateway, testGateway } from "../../support/gateway.ts";
import { type SocketGateway, socketGateway } from "../../support/socket_gateway.ts";
import { storeUnderTest } from "../../support/store_under_test.ts";
import { startUpstream } from "../../support/upstream.ts";
import { heldStream, saying, wordStreams } from "../../support/word_stream.ts";
import { scriptedWorld } from "../../support/world.ts";
import { connectRaw } from "../raw_connection.ts";

const OVERLOADED = [503, "server_error", "overloaded"];
const HEAD = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n";

function withServer(settings: string, url = "http://up.test"): string {
  return `${oneProvider(url)}server: {${settings}}`;
}

/** Resolves when this many calls are in flight. */
async function inFlight({ url, gateway }: SocketGateway, count: number): Promise<void> {
  // Each call gives the messages time to arrive.
  while (gateway.state.admission.count() < count) await got(await fetch(`${url}/health`));
}

/** Returns a gateway whose provider responds when the test allows it. */
function heldGateway(settings: string, options: GatewayOptions = {}) {
  const held = Promise.withResolvers<void>();
  const world = scriptedWorld({
    async fetch() {
      await held.promise;
      return await answers(200, COMPLETION);
    },
  });
  const gateway = testGateway(withServer(settings), world, {
    ...storeUnderTest(world),
    ...options,
  });
  const metric = async (name: string) => {
    const { text } = await got(await gateway.app(new Request("http://localhost/metrics")));
    return Number(new RegExp(`^${RegExp.escape(name)} (\\d+)$`, "m").exec(text)?.[1]);
  };
  return { ...gateway, world, metric, finish: held.resolve };
}

Deno.test("one request more than may run at once is refused with Retry-After, and counted", async () => {
  const { app, metric, finish } = heldGateway("max_concurrent_requests: 2");
  const running = [app(chatRequest()), app(chatRequest())];
  const refused = await got(await app(chatRequest()));
  assertEquals(verdictOf(refused), OVERLOADED);
  assertEquals(refused.headers.get("retry-after"), "1");
  assertStringIncludes(refused.text, "server.max_concurrent_requests");
  assertEquals(await metric('gateway_overloaded_total{reason="requests"}'), 1);
  assertEquals(await metric('gateway_overloaded_total{reason="body_memory"}'), 0);
  finish();
  for (const answer of running) assertEquals((await got(await answer)).status, 200);
  assertEquals((await app(chatRequest())).status, 200);
});

Deno.test("health, readiness and metrics are served however much runs", async () => {
  const { app, finish } = heldGateway("max_concurrent_requests: 1");
  const running = app(chatRequest());
  for (const path of ["/health", "/ready", "/metrics"]) {
    assertEquals((await app(new Request(`http://localhost${path}`))).status, 200, path);
  }
  const models = await app(new Request("http://localhost/v1/models"));
  assertEquals(models.status, 503, "every path below /v1/ counts");
  finish();
  assertEquals((await running).status, 200);
});

Deno.test("a caller without a key is refused for that, and takes no place", async () => {
  const { app, finish } = heldGateway(
    "max_concurrent_requests: 1}\nsecurity: {enabled: true, api_key: {keys: [{name: a, value: long-enough-key}]}",
  );
  for (let count = 0; count < 3; count++) assertEquals((await app(chatRequest())).status, 401);
  const running = app(chatRequest({ headers: { authorization: "Bearer long-enough-key" } }));
  assertEquals((await app(chatRequest())).status, 401);
  finish();
  assertEquals((await running).status, 200);
});

Deno.test("a call takes the place of the oldest body that another key sends, if most places have such bodies", async () => {
  const { app, gateway, metric, finish } = heldGateway(
    "max_concurrent_requests: 4}\nsecurity: {enabled: true, api_key: {keys: [{name: a, value: key-of-client-a}, {name: b, value: key-of-client-b}]}",
  );
  const keyed = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
  const bodies: ReadableStreamDefaultController<Uint8Array>[] = [];
  const arriving = () =>
    app(
      new Request(chatRequest().url, {
        ...keyed("key-of-client-a"),
        method: "POST",
        body: new ReadableStream({ start: (body) => void bodies.push(body) }),
      }),
    );
  const running = [app(chatRequest(keyed("key-of-client-a")))];
  const [oldest, ...others] = [arriving(), arriving(), arriving()];
  for (const key of ["key-of-client-a", "key-of-nobody"]) {
    assertEquals(
      (await got(await app(chatRequest(keyed(key))))).status,
      key.endsWith("a") ? 503 : 401,
    );
  }
  assertEquals(await metric('gateway_overloaded_total{reason="requests"}'), 1);
  running.push(app(chatRequest(keyed("key-of-client-b"))));
  assert(oldest !== undefined);
  const ended = await got(await oldest);
  assertEquals([verdictOf(ended), ended.headers.get("connection")], [OVERLOADED, "close"]);
  assertEquals(ended.headers.get("retry-after"), "1");
  const refused = await got(await app(chatRequest(keyed("key-of-client-b"))));
  assertEquals(verdictOf(refused), OVERLOADED, "two bodies are no more than half of the places");
  finish();
  for (const body of bodies.slice(1)) {
    body.enqueue(new TextEncoder().encode(await chatRequest().text()));
    body.close();
  }
  for (const answer of [...running, ...others]) assertEquals((await got(await answer)).status, 200);
  assertEquals(gateway.state.admission.count(), 0);
});

Deno.test("a message whose key is not checked yet ends no body of another client", () => {
  const { gateway } = heldGateway("max_concurrent_requests: 2");
  const { admission } = gateway.state;
  const path = "/v1/chat/completions";
  const call = newCall(gateway, chatRequest(), path, endpointAt(path));
  let isEnded = false;
  for (const id of ["first", "second"]) {
    admission.admit(id);
    admission.arrives(id, "another client", () => void (isEnded = true));
  }
  assertEquals([takePlace(call, false)?.failure.kind, isEnded], ["overloaded", false]);
  assertEquals([takePlace(call), isEnded, admission.count()], [null, true, 2]);
});

Deno.test("a single place is not taken from a body that arrives in it", () => {
  const { gateway } = heldGateway("max_concurrent_requests: 1");
  const { admission } = gateway.state;
  const path = "/v1/chat/completions";
  admission.admit("first");
  admission.arrives("first", "another client", () => {});
  const call = newCall(gateway, chatRequest(), path, endpointAt(path));
  assertEquals(takePlace(call)?.failure.kind, "overloaded");
});

Deno.test("bodies are held until their calls are over, and no more of them than server.max_body_memory", async () => {
  const { app, metric, finish } = heldGateway("max_body_memory: 250");
  const body = await chatRequest().text();
  const padded = () =>
    new Request(chatRequest().url, { method: "POST", body: body + " ".repeat(100 - body.length) });
  const running = [app(padded()), app(padded())];
  const refused = await got(await app(padded()));
  assertEquals(verdictOf(refused), OVERLOADED);
  assertEquals(refused.headers.get("retry-after"), "1");
  assertStringIncludes(refused.text, "server.max_body_memory");
  assertEquals(await metric('gateway_overloaded_total{reason="body_memory"}'), 1);
  assertEquals(await metric("gateway_request_body_bytes"), 200);
  finish();
  for (const answer of running) assertEquals((await got(await answer)).status, 200);
  assertEquals(await metric("gateway_request_body_bytes"), 0);
});

Deno.test("a body of many members is refused if there is no memory for what they take when parsed", async () => {
  const { app, metric, finish } = heldGateway("max_body_memory: 1000000");
  const dense = () =>
    chatRequest({ body: { user: "x", metadata_of_mine: Array(20_000).fill({}) } });
  const running = app(dense());
  const refused = await got(await app(dense()));
  assertEquals(verdictOf(refused), OVERLOADED);
  assertStringIncludes(refused.text, "server.max_body_memory");
  assert(await metric("gateway_request_body_bytes") > 700_000);
  finish();
  assertEquals((await got(await running)).status, 200);
  assertEquals(await metric("gateway_request_body_bytes"), 0);
});

Deno.test("while the heap of the process is nearly full, bodies are refused that bring all above a 16th of the body memory", async () => {
  const { app, metric, finish } = heldGateway("max_body_memory: 16000", { isHeapFull: () => true });
  const running = app(chatRequest());
  const refused = await got(await app(chatRequest({ body: { user: "x".repeat(1_000) } })));
  assertEquals(verdictOf(refused), OVERLOADED);
  assertEquals(refused.headers.get("retry-after"), "1");
  assertStringIncludes(refused.text, "most of the heap");
  assertEquals(await metric('gateway_overloaded_total{reason="heap"}'), 1);
  finish();
  assertEquals((await got(await running)).status, 200);
});

Deno.test("a request that waited until the heap was nearly full is refused before it is sent", async () => {
  let looks = 0;
  // It is full once the body is held.
  const { app, metric, finish } = heldGateway("max_body_memory: 16000", {
    isHeapFull: () => ++looks > 1,
  });
  finish();
  const refused = await got(await app(chatRequest({ body: { user: "x".repeat(1_000) } })));
  assertEquals([verdictOf(refused), looks], [OVERLOADED, 2]);
  assertEquals(await metric('gateway_overloaded_total{reason="heap"}'), 1);
});

Deno.test("a body counts by the bytes received, and is released however its call ends", async () => {
  await using upstream = startUpstream((exchange) => exchange.json(200, COMPLETION));
  await using gateway = serveGateway(withServer("max_body_memory: 1000", upstream.url));
  const bytesHeld = async () => {
    const { text } = await got(await fetch(`${gateway.url}/metrics`));
    return Number(/^gateway_request_body_bytes (\d+)$/m.exec(text)?.[1]);
  };
  {
    await using leaver = await connectRaw(gateway.url);
    await leaver.send(`${HEAD}content-length: 10000000\r\n\r\n${"x".repeat(300)}`);
    while (await bytesHeld() === 0);
    assertEquals(await bytesHeld(), 300, "ten million are only declared");
  }
  while (await bytesHeld() > 0);

  await using endless = await connectRaw(gateway.url);
  const chunk = `190\r\n${"x".repeat(0x190)}\r\n`;
  await endless.send(`${HEAD}transfer-encoding: chunked\r\n\r\n${chunk.repeat(3)}`);
  const answer = await endless.receiveUntil("\0");
  assertMatch(answer, /^HTTP\/1\.1 503 /);
  assertMatch(answer, /retry-after: 1\r\n/i);
  assertMatch(answer, /connection: close\r\n/i);
  assertEquals(await bytesHeld(), 0);
  for (const body of ["no json", "{}", await chatRequest().text()]) {
    await got(await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body }));
    assertEquals(await bytesHeld(), 0, body);
  }
});

Deno.test("a stream holds its place and its body until its last record is out", async () => {
  const held = heldStream();
  const upstream = wordStreams((sent) => held.answer(sent));
  await using served = socketGateway(
    withServer("max_concurrent_requests: 1, max_body_memory: 1000"),
    upstream,
  );
  const streaming = chatRequest({ url: served.url, body: { stream: true } });
  held.say("first");
  const answer = await fetch(streaming);
  const reader = answer.body?.getReader();
  await reader?.read();
  assert(served.gateway.state.admission.bodyBytes() > 0);
  assertEquals((await got(await fetch(chatRequest({ url: served.url })))).status, 503);
  held.finish();
  while (!(await reader?.read())?.done);
  await served.reported(2);
  const { admission } = served.gateway.state;
  assertEquals([admission.count(), admission.bodyBytes()], [0, 0]);
});

Deno.test("an idle socket takes no place; its messages count one by one, those that wait as well", async () => {
  const held = heldStream();
  const upstream = wordStreams((sent, count) => count === 1 ? held.answer(sent) : saying("later"));
  await using served = socketGateway(withServer("max_concurrent_requests: 2"), upstream);
  await using busy = await served.open();
  await using other = await served.open();
  await using third = await served.open();
  assertEquals(served.gateway.state.admission.count(), 0);
  held.say("first");
  busy.send(create());
  assertEquals<unknown>((await busy.next()).type, "response.created");
  busy.send(create());
  await inFlight(served, 2);
  const { end, error, events } = await other.turn(create());
  assertEquals<unknown>([events.length, end.status, error.code], [1, 503, "overloaded"]);
  assertEquals<unknown>(error.headers, { "retry-after": "1" });
  held.finish();
  await busy.rest();
  await busy.rest();
  assertEquals((await third.turn(create())).output, "later");
  assertEquals(served.gateway.state.admission.count(), 0);
});

Deno.test("messages of sockets that wait and run are held as bodies", async () => {
  const held = heldStream();
  const upstream = wordStreams((sent, count) => count === 1 ? held.answer(sent) : saying("later"));
  await using served = socketGateway(withServer("max_body_memory: 3000"), upstream);
  const { admission } = served.gateway.state;
  held.say("first");
  {
    await using client = await served.open();
    client.send(create({ instructions: "x".repeat(1_200), stream_id: "a" }));
    assertEquals<unknown>((await client.next()).type, "response.created");
    client.send(create({ instructions: "x".repeat(1_200) }));
    await inFlight(served, 2);
    assert(admission.bodyBytes() > 2_400);
    // A third message would be refused or close the socket, by how much of it has arrived.
    const third = await got(
      await fetch(`${served.url}/v1/responses`, { method: "POST", body: "x".repeat(1_200) }),
    );
    assertEquals([third.status, third.error.code], [503, "overloaded"]);
    held.finish();
    await client.rest();
    assertEquals((await client.rest()).output, "later");
  }
  assertEquals([admission.count(), admission.bodyBytes()], [0, 0]);
});
