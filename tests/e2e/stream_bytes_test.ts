import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { serveGateway, testGateway } from "../support/gateway.ts";
import { withCrlf } from "../support/golden.ts";
import { pieces } from "../support/pieces.ts";
import { startUpstream } from "../support/upstream.ts";
import { scriptedWorld } from "../support/world.ts";
import { callChat, chatBody, plainConfig } from "./chat_call.ts";
import { RECORDINGS } from "./recordings.ts";
import { chunk, finish, HELLO, ROLE, sse, streamed, WITH_USAGE } from "./streamed.ts";

/**
 * Spelled as no JSON writer of ours would: white space, escapes, exact numbers, unknown members.
 */
const ODD = [
  ": keepalive 世界\n\n",
  'data:{"id" : "a\\u002fb","object":"chat.completion.chunk", "created":1700000007,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n',
  ': thinking\ndata: {"id":"a/b","object":"chat.completion.chunk","created":1700000007,"model":"m","choices":[{"index":0,"delta":{"content":"Gr\\u00fc\\u00dfe 🌍"},"logprobs":{"content":[{"logprob":-1.2300E-05}]},"finish_reason":null}],"seed":12345678901234567890}\n\n',
  'data: {"id":"a/b","object":"chat.completion.chunk","created":1700000007,"model":"m","choices":[{"delta":{ },"finish_reason":"stop","index":0}],"obfuscation":"r4nd0m"}\n\n',
  "data:[DONE]\n\n",
].join("");

Deno.test("a stream in which nothing must change keeps every byte, however it is cut", async () => {
  for (const text of [ODD, withCrlf(ODD), `\ufeff${ODD}`]) {
    for (const readSize of [1, 2, 3, 7, 64, 10_000]) {
      for (const fields of [{}, WITH_USAGE]) {
        const call = await streamed(text, { readSize, fields });
        assertEquals(call.text, text.replace(/^\ufeff/, ""), `${readSize} bytes a read`);
        assertEquals(endOf(call.report), "complete");
      }
    }
  }
});

Deno.test("only the records that must change are rewritten", async () => {
  const record = (choice: string, more: string) =>
    `data: { "id":"a", "object":"chat.completion.chunk", "created":1, "model":"m", "choices":[${choice}]${more}}`;
  const first = record('{"index":0, "delta":{"content":"a"}, "finish_reason":null}', "");
  const second = record('{"index":0, "delta":{"content":"b"}, "finish_reason":null}', ',"x":1.0');
  const last = record('{"index":0, "delta":{}, "finish_reason":"stop"}', "");
  const text = [first, second.replace(',"x"', ',"usage":null,"x"'), last, "data: [DONE]"]
    .map((each) => `${each}\r\n\r\n`).join("");
  const wanted = `${first}\r\n\r\n${second}\n\n${last}\r\n\r\ndata: [DONE]\r\n\r\n`;
  assertEquals((await streamed(text)).text, wanted);
});

/** The chunks of an HTTP/1.1 answer, which are the writes of the server. */
async function writesOf(url: string, body: string): Promise<string[]> {
  const { hostname, port } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n";
  const length = new TextEncoder().encode(body).length;
  await connection.write(
    new TextEncoder().encode(`${head}content-length: ${length}\r\n\r\n${body}`),
  );
  const received = await new Response(connection.readable).bytes();
  // Latin-1 keeps one character for each byte, so that the sizes fit.
  const text = Array.from(received, (byte) => String.fromCharCode(byte)).join("");
  const writes: string[] = [];
  for (let at = text.indexOf("\r\n\r\n") + 4;;) {
    const lineEnd = text.indexOf("\r\n", at);
    const size = parseInt(text.slice(at, lineEnd), 16);
    assert(Number.isInteger(size), text.slice(at, at + 50));
    if (size === 0) return writes;
    writes.push(text.slice(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

for (const { wire, contentType, bytes } of RECORDINGS) {
  Deno.test(`every write to a client holds whole records (${wire})`, async () => {
    for (const size of [1, 11, 100, 5_000]) {
      await using upstream = startUpstream(async (exchange) => {
        await exchange.head(200, { "content-type": contentType });
        for (const piece of pieces(bytes, size)) await exchange.chunk(piece);
        await exchange.finish();
      });
      await using gateway = serveGateway(plainConfig(wire, upstream.url));
      const writes = await writesOf(gateway.url, chatBody({ stream: true, ...WITH_USAGE }));
      assert(writes.length > 0);
      for (const write of writes) {
        assert(write.startsWith("data: ") && write.endsWith("\n\n"), JSON.stringify(write));
      }
      assert(writes.at(-1)?.endsWith("data: [DONE]\n\n"));
    }
  });
}

Deno.test("a slow client holds the upstream back", async () => {
  const TOTAL = 50_000_000;
  const MAX_BYTES_AHEAD = 400_000;
  const record = sse(chunk({ content: "x".repeat(4_000) }));
  const records = new TextEncoder().encode(record.repeat(10));
  const rest = new TextEncoder().encode(sse(finish(), "[DONE]"));
  let sent = 0;
  const body = new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (sent < TOTAL) {
        sent += records.length;
        return controller.enqueue(records.slice());
      }
      controller.enqueue(rest.slice());
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
  const world = scriptedWorld({ fetch: () => Promise.resolve(new Response(body)) });
  const gateway = testGateway(plainConfig("compat", "http://upstream.test"), world);
  const response = await callChat(gateway, { stream: true });
  await world.advance(60_000);
  assert(sent < MAX_BYTES_AHEAD, `${sent} bytes were read for a client that reads nothing`);
  let received = 0;
  let last = new Uint8Array();
  for await (const piece of response.body ?? []) {
    received += piece.length;
    last = piece;
    assert(sent - received < MAX_BYTES_AHEAD, `${sent} bytes sent, ${received} received`);
  }
  assertEquals(received, sent + rest.length);
  assert(new TextDecoder().decode(last).endsWith(sse(finish(), "[DONE]")));
  assertEquals(endOf(await gateway.reported(1)), "complete");
});

Deno.test("characters that are split between reads arrive complete", async () => {
  const text = sse(ROLE, { ...HELLO, note: "é世🌍e\u0301" }, finish(), "[DONE]");
  for (let readSize = 1; readSize < 5; readSize++) {
    assertEquals((await streamed(text, { readSize })).text, text);
  }
});
