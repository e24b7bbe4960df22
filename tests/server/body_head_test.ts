import { clientApis } from "../../src/api/registry.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { chatRequest, COMPLETION, got, verdictOf } from "../support/chat_call.ts";
import { oneProvider, serveGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import { connectRaw, IS_FRAMING_REFUSED_BY_RUNTIME } from "./raw_connection.ts";

const NOWHERE = oneProvider("http://127.0.0.1:1");

/** The path of every endpoint that reads a body. */
const PATHS = clientApis.flatMap((api) => api.endpoints)
  .filter(({ body }) => body !== false)
  .map(({ path }) => path.replace(/:\w+(\{.*?\})?/g, "some-id"));

/** Sends text on a new connection. Returns all bytes until the gateway closes it. */
async function untilClosed(url: string, text: string): Promise<string> {
  await using connection = await connectRaw(url);
  await connection.send(text);
  return await connection.receiveUntil("\0");
}

/** The part of a response that shows who refused a request with a length and chunks. */
const FRAMING_REFUSAL = IS_FRAMING_REFUSED_BY_RUNTIME
  ? /content-length: 0\r\n/i
  : /"(?:error_)?code":"invalid_request_framing"/;

function head(path: string, ...fields: readonly string[]): string {
  return [`POST ${path} HTTP/1.1`, "host: localhost", ...fields, "", ""].join("\r\n");
}

Deno.test("a body with both a length and chunks is refused on every endpoint, and the connection ends", async () => {
  await using gateway = serveGateway(NOWHERE);
  for (const path of PATHS) {
    const request = head(path, "content-length: 3", "transfer-encoding: chunked") +
      "2\r\n{}\r\n0\r\n\r\n";
    const answer = await untilClosed(gateway.url, request + request);
    assertMatch(answer, /^HTTP\/1\.1 400 /, path);
    assertMatch(answer, FRAMING_REFUSAL);
    assertMatch(answer, /connection: close/i);
    assertEquals(answer.match(/HTTP\/1\.1 \d+/g)?.length, 1, "what follows is not read");
  }
});

Deno.test("a transfer coding besides chunked is refused, and the connection ends", async () => {
  await using gateway = serveGateway(NOWHERE);
  for (const coding of ["gzip, chunked", "chunked, chunked", "identity, Chunked"]) {
    for (const path of ["/v1/chat/completions", "/health"]) {
      const request = head(path, `transfer-encoding: ${coding}`) + "2\r\n{}\r\n0\r\n\r\n";
      const answer = await untilClosed(gateway.url, request + request);
      assertMatch(answer, /^HTTP\/1\.1 400 /, coding);
      assertMatch(
        answer,
        coding === "gzip, chunked" ? /"code":"invalid_request_framing"/ : FRAMING_REFUSAL,
        coding,
      );
      assertMatch(answer, /connection: close/i);
      // Newer runtimes may read what was sent at once.
      assertEquals(/HTTP\/1\.1 (?!400)/.exec(answer), null, "what follows is not served");
    }
  }
});

Deno.test("a length and chunks are refused where no body is read, too, and the connection ends", async () => {
  await using gateway = serveGateway(NOWHERE);
  const socket = [
    "connection: upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
  ];
  const cases: readonly (readonly [line: string, fields: readonly string[]])[] = [
    ["GET /v1/models", []],
    ["GET /health", []],
    ["DELETE /v1/responses/some-id", []],
    ["POST /v1/nowhere", []],
    ["PUT /v1/models", []],
    ["OPTIONS /v1/models", ["origin: http://localhost", "access-control-request-method: GET"]],
    ["GET /v1/responses", socket],
  ];
  for (const [line, fields] of cases) {
    const [method = "", path = ""] = line.split(" ");
    const both = ["content-length: 3", "transfer-encoding: chunked"];
    const request = head(path, ...fields, ...both).replace("POST", method);
    const answer = await untilClosed(gateway.url, `${request}2\r\n{}\r\n0\r\n\r\n${request}`);
    assertMatch(answer, /^HTTP\/1\.1 400 /, line);
    assertMatch(answer, FRAMING_REFUSAL);
    assertEquals(answer.match(/HTTP\/1\.1 \d+/g)?.length, 1, "what follows is not read");
  }
});

Deno.test("an endpoint that reads no body says that the connection ends if there is one, which may arrive later", async () => {
  await using gateway = serveGateway(NOWHERE);
  const cases = [["GET", "/v1/models"], ["GET", "/health"], ["DELETE", "/v1/responses/resp_1"]];
  for (const [method = "", path = ""] of cases) {
    for (const field of ["content-length: 5", "transfer-encoding: chunked"]) {
      const request = head(path, field).replace("POST", method);
      await using connection = await connectRaw(gateway.url);
      await connection.send(request);
      assertMatch(await connection.receiveUntil("\r\n\r\n"), /\r\nconnection: close\r\n/i, field);
    }
    const request = head(path, "content-length: 0").replace("POST", method);
    await using connection = await connectRaw(gateway.url);
    for (let count = 0; count < 2; count++) {
      await connection.send(request);
      assert(!/\r\nconnection:/i.test(await connection.receiveUntil("\r\n\r\n")), path);
    }
  }
});

Deno.test("Content-Length before chunked encoding does not limit the body, and more than 10 MiB never reach a provider", async () => {
  await using upstream = startUpstream((exchange) => exchange.json(200, COMPLETION));
  await using gateway = serveGateway(oneProvider(upstream.url));
  await using connection = await connectRaw(gateway.url);
  const fields = ["content-length: 10", "transfer-encoding: chunked"];
  const sending = (async () => {
    await connection.send(head("/v1/chat/completions", ...fields));
    for (let mib = 0; mib < 14; mib++) {
      await connection.send(`100000\r\n${"x".repeat(0x100000)}\r\n`);
    }
  })();
  assertMatch(await connection.receiveUntil("\r\n\r\n"), /^HTTP\/1\.1 400 /);
  await sending;
  assertEquals(upstream.requests.length, 0);
});

Deno.test("a content encoding is refused by its name on every endpoint with a body, and the connection ends", async () => {
  await using gateway = serveGateway(NOWHERE);
  for (const path of PATHS) {
    // The body is not whole, so nothing but the answer ends the connection.
    const fields = ["content-encoding: gzip", "content-length: 1000"];
    const answer = await untilClosed(gateway.url, head(path, ...fields) + "x");
    // The Messages API has its own status and code.
    const isMessages = path.startsWith("/v1/messages");
    assertMatch(answer, isMessages ? /^HTTP\/1\.1 400 / : /^HTTP\/1\.1 415 /, path);
    assertMatch(
      answer,
      isMessages
        ? /"error_code":"request_body_encoding_unsupported"/
        : /"code":"unsupported_content_encoding"/,
    );
    assertMatch(answer, /'gzip'/);
  }
});

Deno.test("only identity is no content encoding, and odd names are not repeated", async () => {
  await using upstream = startUpstream((exchange) => exchange.json(200, COMPLETION));
  await using gateway = serveGateway(oneProvider(upstream.url));
  const asked = async (coding: string) =>
    await got(
      await fetch(chatRequest({ url: gateway.url, headers: { "content-encoding": coding } })),
    );
  for (const coding of ["identity", "Identity", "identity, identity", ""]) {
    assertEquals((await asked(coding)).status, 200, coding);
  }
  for (
    const [coding, named] of [["br", "br"], ["identity, GZIP", "gzip"], ["x-zstd, br", "x-zstd"]]
  ) {
    const answer = await asked(coding ?? "");
    assertEquals(verdictOf(answer), [
      415,
      "invalid_request_error",
      "unsupported_content_encoding",
    ]);
    assertMatch(answer.text, new RegExp(`'${named}'`));
    assertEquals(answer.error.param, null);
  }
  for (const coding of ["<script>alert(1)</script>", "g".repeat(5_000), "gzip;q=1"]) {
    const { status, text } = await asked(coding);
    assertEquals(status, 415);
    assert(!text.includes(coding) && !text.includes("<script>"));
  }
});
