import { Buffer } from "node:buffer";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { assertEquals } from "../support/assert.ts";
import { chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { oneProvider, serveGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";

const PACKED = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
} as const;

Deno.test("a response in any usual content coding is read, and a truncated response is an error", async () => {
  const text = JSON.stringify(COMPLETION);
  for (const [coding, pack] of Object.entries(PACKED)) {
    const bytes = pack(text);
    await using upstream = startUpstream(({ request, answer }) => {
      const count = request.body.includes('"short"') ? bytes.length >> 1 : bytes.length;
      return answer(200, { "content-encoding": coding }, bytes.subarray(0, count));
    });
    await using gateway = serveGateway(oneProvider(upstream.url));
    const whole = await got(await fetch(chatRequest({ url: gateway.url })));
    assertEquals([whole.status, whole.text], [200, text], coding);
    const body = { messages: [{ role: "user", content: "short" }] };
    const short = await got(await fetch(chatRequest({ url: gateway.url, body })));
    assertEquals(short.status, 502, coding);
  }
});

Deno.test("a compressed response may have several members, and a response without bytes is empty", async () => {
  const text = JSON.stringify(COMPLETION);
  const members = [text.slice(0, 20), text.slice(20)].map((part) => gzipSync(part));
  await using upstream = startUpstream(({ request, answer }) =>
    request.body.includes('"empty"')
      ? answer(429, { "content-encoding": "gzip", "retry-after": "99" }, "")
      : answer(200, { "content-encoding": "gzip" }, Buffer.concat(members))
  );
  await using gateway = serveGateway(oneProvider(upstream.url));
  const whole = await got(await fetch(chatRequest({ url: gateway.url })));
  assertEquals([whole.status, whole.text], [200, text]);
  const body = { messages: [{ role: "user", content: "empty" }] };
  const empty = await fetch(chatRequest({ url: gateway.url, body }));
  assertEquals([empty.status, empty.headers.get("retry-after")], [429, "99"]);
  await empty.body?.cancel();
});
