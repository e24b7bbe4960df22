import { assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { answers, COMPLETION, got, verdictOf } from "../support/chat_call.ts";
import { oneProvider, serveGateway, testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { connectRaw } from "./raw_connection.ts";

const WELL = '{"model":"m","messages":[{"role":"user","content":"Hi"}]}';
const TIMED_OUT = [408, "invalid_request_error", "request_timeout"];

/** Returns an HTTP/1.1 request whose body the test sends in chunks. */
function slowRequest(headers: Readonly<Record<string, string>> = { host: "localhost" }) {
  const sender = Promise.withResolvers<ReadableByteStreamController>();
  const body = new ReadableStream({ type: "bytes", start: sender.resolve });
  const url = "http://localhost/v1/chat/completions";
  return {
    request: new Request(url, { method: "POST", body, headers }),
    async send(text: string) {
      (await sender.promise).enqueue(new TextEncoder().encode(text));
    },
    async end() {
      const controller = await sender.promise;
      controller.close();
      controller.byobRequest?.respond(0);
    },
  };
}

function slowGateway(settings = "") {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  return { world, gateway: testGateway(`${oneProvider("http://up")}${settings}`, world) };
}

Deno.test("a body that brings only bytes in 30 s is refused, and the peer is disconnected once it has the response", async () => {
  const { world, gateway } = slowGateway();
  const { request, send } = slowRequest();
  let disconnects = 0;
  const answering = gateway.app(request, { disconnect: () => void disconnects++ });
  await send("{");
  await world.advance(29_999);
  await send(" ");
  assertEquals([gateway.reports.length, disconnects], [0, 0]);
  await world.advance(1);
  const answer = await got(await answering);
  assertEquals(verdictOf(answer), TIMED_OUT);
  assertStringIncludes(answer.text, "30s");
  assertEquals(answer.headers.get("connection"), "close");
  assertEquals(disconnects, 0, "the answer is on its way");
  await world.advance(1_000);
  assertEquals(disconnects, 1);
  const report = await gateway.reported(1);
  assertEquals([report.status, report.failure?.kind, report.attempts], [
    408,
    "request_timeout",
    [],
  ]);
  await world.advance(100_000);
  assertEquals([gateway.reports.length, disconnects, world.waiting], [1, 1, 0]);
});

Deno.test("a body that never arrives is refused after server.body_timeout", async () => {
  const { world, gateway } = slowGateway("server: {body_timeout: 5s}");
  const answering = gateway.app(slowRequest().request, { disconnect() {} });
  await world.advance(5_000);
  assertEquals(verdictOf(await got(await answering)), TIMED_OUT);
  await world.advance(1_000);
});

Deno.test("a slow body that keeps arriving is served, and leaves no timer behind", async () => {
  const { world, gateway } = slowGateway();
  const { request, send, end } = slowRequest();
  const answering = gateway.app(request, {});
  for (const piece of [WELL, "", "", ""]) {
    await send(piece.padEnd(32 * 1024));
    await world.advance(29_999);
  }
  await send(" ");
  await end();
  await world.advance(0);
  assertEquals((await got(await answering)).status, 200);
  assertEquals(world.waiting, 0);
});

Deno.test("a small body with a length must be complete within server.body_timeout, although bytes keep coming", async () => {
  const { world, gateway } = slowGateway();
  const { request, send } = slowRequest({
    host: "localhost",
    "content-length": String(WELL.length),
  });
  let disconnects = 0;
  const answering = gateway.app(request, { disconnect: () => void disconnects++ });
  for (const character of WELL.slice(0, 2)) {
    await send(character);
    await world.advance(14_999);
  }
  assertEquals(gateway.reports.length, 0);
  await send(WELL.slice(2, 3));
  await world.advance(2);
  const answer = await got(await answering);
  assertEquals(verdictOf(answer), TIMED_OUT);
  assertStringIncludes(answer.text, "not complete after 30s");
  assertEquals(answer.headers.get("connection"), "close");
  await world.advance(1_000);
  assertEquals([disconnects, world.waiting], [1, 0]);
});

Deno.test("a body of 32 KiB or more than that in slow pieces is served if it is complete in time", async () => {
  for (const size of [32 * 1024, 32 * 1024 + 1]) {
    const { world, gateway } = slowGateway();
    const text = WELL.padEnd(size);
    const { request, send, end } = slowRequest({
      host: "localhost",
      "content-length": String(size),
    });
    const answering = gateway.app(request, {});
    await send(text.slice(0, 10));
    await world.advance(29_000);
    await send(text.slice(10));
    await end();
    await world.advance(0);
    assertEquals((await got(await answering)).status, 200);
    assertEquals(world.waiting, 0);
  }
});

Deno.test("a body of less than 32 KiB in server.body_timeout is refused, whatever its length", async () => {
  for (const size of [32 * 1024, 32 * 1024 + 1, 10_000_000]) {
    const { world, gateway } = slowGateway();
    const text = WELL.padEnd(size);
    const { request, send } = slowRequest({
      host: "localhost",
      "content-length": String(size),
    });
    const answering = gateway.app(request, { disconnect() {} });
    for (const at of [0, 1]) {
      await send(text.slice(at, at + 1));
      await world.advance(15_000);
    }
    assertEquals(verdictOf(await got(await answering)), TIMED_OUT, `${size}`);
    await world.advance(1_000);
  }
});

Deno.test("if the peer cannot be disconnected separately, the response is broken off after its last byte", async () => {
  // Without a Host the request is one of several on a connection of HTTP/2.
  for (const [headers, peer] of [[{ host: "localhost" }, {}], [{}, { disconnect() {} }]] as const) {
    const { world, gateway } = slowGateway();
    const answering = gateway.app(slowRequest(headers).request, peer);
    await world.advance(30_000);
    const { status, body } = await answering;
    const reader = body?.getReader();
    assertEquals(status, 408);
    assertMatch(new TextDecoder().decode((await reader?.read())?.value), /"request_timeout"/);
    const rest = reader?.read().then(() => "ended", () => "broken off");
    await world.advance(1_000);
    assertEquals(await rest, "broken off");
  }
});

Deno.test("the connection of a body that stops is closed although its client keeps it open", async () => {
  await using gateway = serveGateway(
    `${oneProvider("http://127.0.0.1:1")}server: {body_timeout: 50ms}`,
  );
  const head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n";
  for (
    const rest of [
      "content-length: 100\r\n\r\n",
      "content-length: 100\r\n\r\n{",
      "transfer-encoding: chunked\r\n\r\n1\r\n{\r\n",
      "transfer-encoding: chunked\r\n\r\n5\r\n{",
    ]
  ) {
    await using connection = await connectRaw(gateway.url);
    await connection.send(head + rest);
    const answer = await connection.receiveUntil("\0");
    assertMatch(answer, /^HTTP\/1\.1 408 /);
    assertMatch(answer, /"code":"request_timeout"/);
  }
});
