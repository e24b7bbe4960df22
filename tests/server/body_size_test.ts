import { MAX_BODY_BYTES } from "../../src/server/receive_body.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { answers, COMPLETION, got, verdictOf } from "../support/chat_call.ts";
import { oneProvider, serveGateway, testGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import type { ReceivedBody } from "../../src/runtime/peer.ts";
import { scriptedWorld } from "../support/world.ts";
import { connectRaw } from "./raw_connection.ts";

const TOO_LARGE = [413, "invalid_request_error", "request_too_large"];
const HEAD = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n";

function bodyOf(bytes: number): string {
  const [before, behind] = ['{"model":"m","messages":[{"role":"user","content":"', '"}]}'];
  return before + "x".repeat(bytes - before.length - behind.length) + behind;
}

function chunked(text: string): ReadableStream<Uint8Array> {
  return ReadableStream.from([text]).pipeThrough(new TextEncoderStream());
}

Deno.test("a body may have 10 MiB", () => {
  assertEquals(MAX_BODY_BYTES, 10_485_760);
});

Deno.test("a body of exactly 10 MiB passes, with a length or in chunks", async () => {
  await using upstream = startUpstream((exchange) => exchange.json(200, COMPLETION));
  await using gateway = serveGateway(oneProvider(upstream.url));
  const text = bodyOf(MAX_BODY_BYTES);
  for (const body of [text, chunked(text)]) {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body });
    assertEquals((await got(answer)).status, 200);
    assert(upstream.requests.at(-1)?.body === text);
  }
});

Deno.test("the bytes of a body in chunks are counted for its connection", async () => {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const { app } = testGateway(oneProvider("http://up.test"), world);
  const headers = { host: "localhost", "transfer-encoding": "chunked" };
  const body = chunked(bodyOf(100_000));
  const request = new Request("http://localhost/v1/chat/completions", {
    method: "POST",
    headers,
    body,
  });
  const bodies: ReceivedBody[] = [];
  const { status } = await got(await app(request, { admitted: (one) => void bodies.push(one) }));
  const counted = bodies.map(({ bodyBytes, bodyHasEnded }) => [bodyBytes, bodyHasEnded]);
  assertEquals([status, counted], [200, [[100_000, true]]]);
});

Deno.test("a body of one byte more is refused, with a length or in chunks", async () => {
  await using gateway = serveGateway(oneProvider("http://127.0.0.1:1"));
  const text = bodyOf(MAX_BODY_BYTES + 1);
  for (const body of [text, chunked(text)]) {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body });
    assertEquals(verdictOf(await got(answer)), TOO_LARGE);
  }
  assertEquals(gateway.reports.map(({ attempts }) => attempts), [[], []]);
});

Deno.test("a length that is too large is refused before a byte of the body is sent", async () => {
  await using gateway = serveGateway(oneProvider("http://127.0.0.1:1"));
  for (const expect of ["", "expect: 100-continue\r\n"]) {
    await using connection = await connectRaw(gateway.url);
    await connection.send(`${HEAD}${expect}content-length: ${MAX_BODY_BYTES + 1}\r\n\r\n`);
    // A newer runtime asks for the body before the gateway has received the request.
    const answer = (await connection.receiveUntil("}}")).replace(
      "HTTP/1.1 100 Continue\r\n\r\n",
      "",
    );
    assertMatch(answer, /^HTTP\/1\.1 413 /);
    assertMatch(answer, /x-gateway-request-id: /i);
    assertMatch(answer, /"code":"request_too_large"/);
  }
});

Deno.test("an endless body is refused as soon as it is too large", async () => {
  await using gateway = serveGateway(oneProvider("http://127.0.0.1:1"));
  await using connection = await connectRaw(gateway.url);
  await connection.send(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
  const chunk = `100000\r\n${"x".repeat(0x100000)}\r\n`;
  const sending = (async () => {
    for (let count = 0; count <= 10; count++) await connection.send(chunk);
  })();
  assertMatch(await connection.receiveUntil("\r\n\r\n"), /^HTTP\/1\.1 413 /);
  await sending;
});

Deno.test("a client that waits for 100-continue gets it and sends its small body", async () => {
  await using upstream = startUpstream((exchange) => exchange.json(200, COMPLETION));
  await using gateway = serveGateway(oneProvider(upstream.url));
  await using connection = await connectRaw(gateway.url);
  const body = bodyOf(1000);
  await connection.send(`${HEAD}expect: 100-continue\r\ncontent-length: 1000\r\n\r\n`);
  assertMatch(await connection.receiveUntil("\r\n\r\n"), /^HTTP\/1\.1 100 /);
  await connection.send(body);
  assertMatch(await connection.receiveUntil("\r\n\r\n"), /^HTTP\/1\.1 200 /);
  assertEquals(upstream.requests[0]?.body, body);
});

Deno.test("a client that disconnects during its request body reaches no provider", async () => {
  await using gateway = serveGateway(oneProvider("http://127.0.0.1:1"));
  for (const framing of ["content-length: 1000", "transfer-encoding: chunked"]) {
    await using connection = await connectRaw(gateway.url);
    await connection.send(`${HEAD}${framing}\r\n\r\n10\r\n{`);
  }
  for (const count of [1, 2]) {
    const report = await gateway.reported(count);
    assertEquals([report.status, report.failure?.kind], [499, "client_cancelled"]);
    assertEquals(report.attempts, []);
  }
});
