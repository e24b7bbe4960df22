import { utf8Bytes } from "../../../src/formats/utf8.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { got } from "../../support/chat_call.ts";
import { create } from "../../support/socket_client.ts";
import { openLine } from "../../support/line.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { ENDS_RESET_HANDSHAKES } from "../../support/runtime.ts";
import { refusalOf } from "../../support/state_call.ts";
import { handshake } from "../../support/raw_frames.ts";
import { type SocketGateway, socketGateway } from "../../support/socket_gateway.ts";
import { saying, wordStreams } from "../../support/word_stream.ts";
import { scriptedWorld } from "../../support/world.ts";
import { connectRaw } from "../raw_connection.ts";

const CONFIG = oneProvider("http://up.test");
const KEYS = `${CONFIG}
security: {enabled: true, api_key: {keys: [{name: ada, value: key-of-ada}]}}
rate_limiting: {enabled: true, requests_per_minute: 60, burst_size: 3}
`;

const encouraged = () => wordStreams(() => saying("yes"));

/** Returns the response to a handshake that is refused, with the error of the envelope. */
async function refused(served: SocketGateway, ...lines: readonly string[]) {
  const { host } = new URL(served.url);
  await using raw = await connectRaw(served.url);
  const hosts = lines.filter((line) => line.startsWith("host: ")).map((line) => line.slice(6));
  const others = lines.filter((line) => !line.startsWith("host: "));
  await raw.send(handshake(hosts[0] ?? host, ...others));
  const head = await raw.receiveUntil("\r\n\r\n");
  const body = head.startsWith("HTTP/1.1 101") ? "" : await raw.receiveUntil("}}");
  return { status: Number(head.slice(9, 12)), head, body };
}

Deno.test("a request without an upgrade is refused with upgrade_required", async () => {
  await using served = socketGateway(CONFIG);
  const response = await fetch(`${served.url}/v1/responses`);
  assertEquals(response.headers.get("upgrade"), "websocket");
  assertMatch(response.headers.get("x-gateway-request-id") ?? "", /^[0-9a-f-]{36}$/);
  assertEquals(refusalOf(await got(response)), [426, "upgrade_required", null]);
});

Deno.test("a handshake waits until its connection is found, so that what the socket brings is bounded", async () => {
  const { app } = testGateway(CONFIG, scriptedWorld());
  const { promise, resolve } = Promise.withResolvers<void>();
  const order: string[] = [];
  const located = () => promise.then(() => order.push("found") > 0);
  const response = app(new Request("http://localhost/v1/responses"), { located });
  const answered = response.then(() => order.push("answered"));
  await app(new Request("http://localhost/health"));
  order.push("others");
  resolve();
  await answered;
  assertEquals(order, ["others", "found", "answered"]);
  assertEquals((await got(await response)).status, 426);
});

Deno.test("a handshake on a connection whose socket cannot be found is refused", async () => {
  const { app } = testGateway(CONFIG, scriptedWorld());
  const located = () => Promise.resolve(false);
  const response = await app(new Request("http://localhost/v1/responses"), { located });
  assertEquals(refusalOf(await got(response)), [429, "too_many_sockets", null]);
});

Deno.test("an incomplete handshake is refused, and affects no other client", async () => {
  await using served = socketGateway(CONFIG, encouraged());
  for (const headers of [{ upgrade: "websocket" }, { upgrade: "h2c" }]) {
    await using raw = await connectRaw(served.url);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    await raw.send(
      ["GET /v1/responses HTTP/1.1", "host: localhost", ...lines, "\r\n"].join("\r\n"),
    );
    assertMatch(await raw.receiveUntil("\r\n\r\n"), /^HTTP\/1\.1 426 /);
  }
  await using client = await served.open();
  assertEquals((await client.turn(create())).output, "yes");
});

Deno.test("a handshake with another version than 13 is refused with it, and has taken no place", async () => {
  await using served = socketGateway(CONFIG);
  const versions = ["sec-websocket-version: 8\r\n", "sec-websocket-version: 13, 8\r\n", ""];
  for (const version of versions) {
    await using raw = await connectRaw(served.url);
    await raw.send(
      handshake(new URL(served.url).host).replace("sec-websocket-version: 13\r\n", version),
    );
    const head = await raw.receiveUntil("\r\n\r\n");
    assertMatch(head, /^HTTP\/1\.1 426 /);
    assertMatch(head, /^sec-websocket-version: 13\r$/mi);
    assertMatch(head, /^upgrade: websocket\r$/mi);
    assertMatch(await raw.receiveUntil("}}"), /"code":"upgrade_required"/);
  }
  assertEquals(await served.sockets(), 0);
  const { app } = testGateway(CONFIG, scriptedWorld());
  const headers = { upgrade: "websocket", "sec-websocket-version": "8" };
  const located = () => Promise.reject(new Error("its connection is looked for"));
  const response = await app(new Request("http://localhost/v1/responses", { headers }), {
    located,
  });
  assertEquals(refusalOf(await got(response)), [426, "upgrade_required", null]);
});

Deno.test("a handshake with a head above 32 KiB is refused, one below is accepted", async () => {
  await using served = socketGateway(CONFIG);
  const short = handshake(new URL(served.url).host);
  const field = (chars: number) => short.replace(/\r\n$/, `x-long: ${"a".repeat(chars)}\r\n\r\n`);
  const query = (chars: number) => short.replace(" HTTP/1.1", `?a=${"a".repeat(chars)} HTTP/1.1`);
  const repeated = (chars: number) =>
    short.replace(/\r\n$/, `${`x-${"n".repeat(chars / 20)}:\r\n`.repeat(20)}\r\n`);
  const below = 31 * 1024, above = 32 * 1024;
  for (
    const [head, status] of [
      [field(above), 413],
      [query(above), 413],
      [repeated(above), 413],
      [field(below), 101],
      [query(below), 101],
    ] as const
  ) {
    await using raw = await connectRaw(served.url);
    await raw.send(head);
    assertStringIncludes(await raw.receiveUntil("\r\n\r\n"), `HTTP/1.1 ${status} `);
    if (status === 413) assertMatch(await raw.receiveUntil("}}"), /"code":"request_too_large"/);
  }
});

Deno.test("an accepted handshake has the headers of every response", async () => {
  await using served = socketGateway(KEYS);
  const { head } = await refused(
    served,
    "origin: http://localhost:5173",
    "authorization: Bearer key-of-ada",
  );
  assertMatch(head, /^HTTP\/1\.1 101 /);
  const id = /^x-gateway-request-id: ([0-9a-f-]{36})\r$/mi.exec(head)?.[1];
  assertMatch(head, new RegExp(`^x-request-id: ${id}\r$`, "mi"));
  assertMatch(head, /^x-ratelimit-limit: 60\r$/mi);
  assertMatch(head, /^x-ratelimit-remaining: 2\r$/mi);
  assertMatch(head, /^access-control-allow-origin: http:\/\/localhost:5173\r$/mi);
  const report = await served.reported(1);
  assertEquals([report.status, report.endpoint.path, report.client], [101, "/v1/responses", "ada"]);
});

Deno.test("pages and names that may not call the gateway may not open a socket either", async () => {
  await using served = socketGateway(CONFIG);
  const page = await refused(served, "origin: https://evil.example");
  assertEquals(page.status, 403);
  assertMatch(page.body, /"code":"origin_not_allowed"/);
  const name = await refused(served, "host: evil.example");
  assertEquals(name.status, 403);
  assertMatch(name.body, /"code":"host_not_allowed"/);
  assertEquals((await refused(served, "origin: http://127.0.0.1:3000")).status, 101);
});

Deno.test("a handshake without a valid key gets a JSON error", async () => {
  await using served = socketGateway(KEYS);
  const none = await refused(served);
  assertEquals(none.status, 401);
  assertMatch(none.head, /^content-type: application\/json\r$/mi);
  assertMatch(none.head, /^www-authenticate: Bearer realm="gateway"\r$/mi);
  assertMatch(none.body, /"code":"missing_api_key"/);
  const wrong = await refused(served, "authorization: Bearer other");
  assertMatch(wrong.body, /"code":"invalid_api_key"/);
  assertEquals(await served.sockets(), 0);
});

Deno.test("a handshake takes a token, and so does every message; too many are refused, the socket stays", async () => {
  const upstream = encouraged();
  await using served = socketGateway(KEYS, upstream);
  await using client = await served.open({ authorization: "Bearer key-of-ada" });
  assertEquals((await client.turn(create())).output, "yes");
  assertEquals((await client.turn("no JSON")).error.code, "invalid_json");
  const { end, error } = await client.turn(create({ stream_id: "s" }));
  assertEquals<unknown>([end.status, error.type, error.code, end.stream_id], [
    429,
    "rate_limit_error",
    "rate_limit_exceeded",
    "s",
  ]);
  assertEquals(upstream.sent.length, 1);
  assertEquals(served.reports.at(-1)?.status, 429);
});

Deno.test("while the gateway ends, no socket is opened", async () => {
  await using served = socketGateway(CONFIG);
  served.gateway.state.inFlight.drain();
  const { status, body } = await refused(served);
  assertEquals(status, 503);
  assertMatch(body, /"code":"draining"/);
});

Deno.test("a session without a name gets a name, which every upstream request and access line has", async () => {
  const upstream = encouraged();
  await using served = socketGateway(CONFIG, upstream);
  await using client = await served.open({ "idempotency-key": "once" });
  await client.turn(create());
  await client.turn(create());
  const [first, second] = upstream.sent.map(({ headers }) => headers.get("x-gateway-sessionid"));
  assertMatch(first ?? "", /^wsresp_[0-9a-f]{8}-[0-9a-f-]{27}$/);
  assertEquals(second, first);
  assert(upstream.sent.every(({ headers }) => headers.get("idempotency-key") === null));
  assertEquals(served.reports.slice(1).map(({ session }) => session), [first, first]);
  assert(served.log.slice(1).every((line) => line.includes(`"session":"${first}"`)));
  await using other = await served.open();
  await other.turn(create());
  assert(upstream.sent[2]?.headers.get("x-gateway-sessionid") !== first);
});

Deno.test("a session keeps the name that it has, in any script", async () => {
  const upstream = encouraged();
  await using served = socketGateway(CONFIG, upstream);
  const name = "日本";
  const bytes = String.fromCharCode(...new TextEncoder().encode(name));
  await using client = await served.open({ "x-gateway-sessionid": bytes });
  assertEquals((await client.turn(create())).output, "yes");
  assertEquals(upstream.sent[0]?.headers.get("x-gateway-sessionid"), bytes);
  assertEquals(served.reports[1]?.session, name);
});

Deno.test("a client that disconnects before its socket is open leaves no state behind", async () => {
  await using served = socketGateway(CONFIG);
  const { hostname, port, host } = new URL(served.url);
  for (let visit = 1; visit <= 20; visit++) {
    const line = openLine(await Deno.connect({ hostname, port: Number(port) }));
    await line.write(utf8Bytes(handshake(host)));
    // The call is over before its answer is on the way.
    await served.reported(visit);
    if (ENDS_RESET_HANDSHAKES) line.reset();
    else line.close();
    await line.quiet();
  }
  await served.gateway.state.inFlight.idle();
  assertEquals(await served.sockets(), 0);
});
