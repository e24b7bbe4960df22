import { assertEquals, assertMatch } from "../support/assert.ts";
import { COMPLETION } from "../support/chat_call.ts";
import { twoKeys } from "../support/client_keys.ts";
import { oneProvider } from "../support/gateway.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import { connectRaw } from "./raw_connection.ts";

const KEY = "authorization: Bearer key-of-ada\r\n";

/** Characters below and above the size that the runtime keeps of a request. */
const SMALL = "x".repeat(16_000), LARGE = "x".repeat(33_000);

const CHUNKED = "transfer-encoding: chunked\r\n";

for (
  const [request, isLast] of [
    [`POST /v1/unknown HTTP/1.1\r\n${KEY}content-length: ${LARGE.length}`, true],
    [`POST /v1/unknown HTTP/1.1\r\n${KEY}content-length: ${SMALL.length}`, true],
    [`POST /v1/chat/completions HTTP/1.1\r\ncontent-length: ${SMALL.length}`, true],
    [`POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 0`, false],
    [`PUT /v1/chat/completions HTTP/1.1\r\n${KEY}content-length: ${SMALL.length}`, true],
    [`POST /v1/conversations/%ff HTTP/1.1\r\n${KEY}content-length: ${SMALL.length}`, true],
    [`GET /v1/models HTTP/1.1\r\n${KEY}content-length: ${SMALL.length}`, true],
    [`GET /v1/models HTTP/1.1\r\n${KEY}content-length: 0`, false],
    [`POST /v1/models HTTP/1.1\r\norigin: http://other.example\r\ncontent-length: 9`, true],
    [`POST /unknown HTTP/1.1\r\ncontent-length: ${LARGE.length}`, true],
    [`PUT /v1/chat/completions HTTP/1.1\r\n${KEY}content-length: ${LARGE.length}`, true],
    [`GET /v1/responses HTTP/1.1\r\n${KEY}x-long: ${LARGE}`, true],
    [`GET /v1/responses HTTP/1.1\r\nx-long: ${LARGE}`, true],
    [`GET /v1/responses HTTP/1.1\r\n${KEY}x-short: ${SMALL}`, false],
    [`GET /v1/responses HTTP/1.1\r\n${KEY}content-length: ${SMALL.length}`, true],
    [`OPTIONS /v1/models HTTP/1.1\r\norigin: http://other.example\r\nx-long: ${LARGE}`, true],
    [`HEAD /health HTTP/1.1\r\nx-long: ${LARGE}`, true],
    [`POST /v1/unknown HTTP/1.1\r\n${KEY}${CHUNKED}`, true],
    [`POST /v1/chat/completions HTTP/1.1\r\n${CHUNKED}`, true],
  ] as const
) {
  const line = request.replaceAll("\r\n", ", ").replace(/x{99,}/, "...").replace(KEY.trim(), "key");
  Deno.test(`the response says that the connection ${isLast ? "ends" : "stays"} after ${line}`, async () => {
    await using served = socketGateway(oneProvider("http://127.0.0.1:1/v1") + twoKeys());
    await using client = await connectRaw(served.url);
    const { host } = new URL(served.url);
    await client.send(`${request.trimEnd()}\r\nhost: ${host}\r\n\r\n`);
    const received = await client.receiveUntil("\r\n\r\n");
    assertEquals(/\r\nconnection: close\r\n/.test(received), isLast, received);
  });
}

for (
  const [name, head, body, isLast] of [
    ["a small head", KEY, "", false],
    ["a large head", `${KEY}x-long: ${LARGE}\r\n`, "", true],
    ["a small body", KEY, SMALL, false],
    ["a large body that is not admitted", "", LARGE, true],
    ["a large body", KEY, LARGE, false],
  ] as const
) {
  Deno.test(`after ${name} the response says that the connection ${isLast ? "ends" : "stays"}`, async () => {
    await using served = socketGateway(oneProvider("http://127.0.0.1:1/v1") + twoKeys());
    await using client = await connectRaw(served.url);
    const { host } = new URL(served.url);
    await client.send(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: ${host}\r\n${head}content-length: ${body.length}\r\n\r\n${body}`,
    );
    const received = await client.receiveUntil("\r\n\r\n");
    assertEquals(/\r\nconnection: close\r\n/.test(received), isLast, received);
  });
}

Deno.test("a connection ends after a body in chunks with much framing, of which the response says so", async () => {
  await using upstream = startUpstream((exchange) => exchange.json(200, COMPLETION));
  await using served = socketGateway(oneProvider(upstream.url) + twoKeys());
  const { host } = new URL(served.url);
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: SMALL }] });
  for (const [bytes, isLast] of [[1_000, false], [8, true]] as const) {
    await using client = await connectRaw(served.url);
    const pieces = Array.from(
      { length: Math.ceil(body.length / bytes) },
      (_, at) => body.slice(at * bytes, (at + 1) * bytes),
    );
    const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join("");
    await client.send(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: ${host}\r\n${KEY}${CHUNKED}\r\n${chunks}0\r\n\r\n`,
    );
    const head = await client.receiveUntil("\r\n\r\n");
    assertMatch(head, /^HTTP\/1\.1 200 /);
    assertEquals(/\r\nconnection: close\r\n/.test(head), isLast, head);
    if (!isLast) continue;
    // All that comes until the runtime closes it.
    assertMatch(await client.receiveUntil("more than the response"), /"object":"chat\.completion"/);
  }
});
