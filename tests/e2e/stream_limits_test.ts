import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { callChat, plainConfig } from "./chat_call.ts";
import { assertRefused, contentOf, delivered } from "./delivered.ts";
import { chunk, finish, HELLO, ROLE, sse, streamed } from "./streamed.ts";

const MAX_RECORD_BYTES = 4 * 1024 * 1024;
const KIB = 1024;

/** A record of exactly `size` bytes, its separator included. */
function recordOf(size: number, filler = "x"): string {
  const [before = "", behind = ""] = sse(chunk({ content: "|" })).split("|");
  const room = size - before.length - behind.length;
  const width = new TextEncoder().encode(filler).length;
  return before + filler.repeat(Math.floor(room / width)) + "y".repeat(room % width) + behind;
}

for (const filler of ["x", "世"]) {
  Deno.test(`a record of exactly 4 MiB passes, before delivery and after (${filler})`, async () => {
    const record = recordOf(MAX_RECORD_BYTES, filler);
    assertEquals(new TextEncoder().encode(record).length, MAX_RECORD_BYTES);
    for (const text of [record, sse(ROLE, HELLO) + record]) {
      const whole = text + sse(finish(), "[DONE]");
      assert((await streamed(whole, { readSize: 64 * KIB })).text === whole);
    }
  });

  Deno.test(`a record of one byte more is a JSON error before delivery (${filler})`, async () => {
    const text = sse(ROLE) + recordOf(MAX_RECORD_BYTES + 1, filler) + sse(finish(), "[DONE]");
    for (const readSize of [64 * KIB, text.length * 3]) {
      const call = await streamed(text, { readSize });
      assertRefused(call.status, call.text, 502, /^upstream_response_too_large$/);
      assertEquals(endOf(call.report), "upstream_invalid");
    }
  });

  Deno.test(`a record of one byte more breaks the stream after delivery (${filler})`, async () => {
    const text = sse(HELLO) + recordOf(MAX_RECORD_BYTES + 1, filler) + sse(finish(), "[DONE]");
    const call = await streamed(text, { readSize: 7 * KIB });
    assertEquals(delivered(call.text).ending, "broken");
    assertEquals(contentOf(delivered(call.text)), "Hello");
    assertEquals(endOf(call.report), "stream_broken");
  });
}

Deno.test("the record limit applies to lines of the local wire", async () => {
  const line = (content: string) => `{"message":{"content":"${content}"},"done":false}\n`;
  const end = '{"message":{"content":""},"done":true,"done_reason":"stop"}\n';
  const wire = "local";
  const fitting = line("x".repeat(MAX_RECORD_BYTES - line("").length));
  assertEquals(fitting.length, MAX_RECORD_BYTES);
  const passed = await streamed(fitting + end, { wire, readSize: 64 * KIB });
  assertEquals(delivered(passed.text).ending, "complete");
  const tooLong = line("x".repeat(MAX_RECORD_BYTES + 1 - line("").length));
  const early = await streamed(tooLong + end, { wire, readSize: 64 * KIB });
  assertRefused(early.status, early.text, 502, /^upstream_response_too_large$/);
  const late = await streamed(line("a") + tooLong + end, { wire, readSize: 64 * KIB });
  assertEquals(delivered(late.text).ending, "broken");
});

Deno.test("a record without end is cancelled at the limit", async () => {
  for (const begin of [sse(ROLE), sse(HELLO), ""]) {
    for (const separator of ["", "\n"]) {
      const { bytesRead, text } = await endless(begin, `data: ${"x".repeat(KIB)}${separator}`);
      assert(text.includes("error"), text.slice(0, 200));
      assert(bytesRead < MAX_RECORD_BYTES + 256 * KIB, `read ${bytesRead} bytes`);
    }
  }
});

/** An upstream that sends a beginning and then the same piece forever. */
async function endless(begin: string, piece: string) {
  const encoder = new TextEncoder();
  let bytesRead = 0;
  let isBegun = false;
  const body = new ReadableStream({
    type: "bytes",
    pull(controller) {
      const bytes = encoder.encode(isBegun || begin === "" ? piece.repeat(16) : begin);
      isBegun = true;
      bytesRead += bytes.length;
      controller.enqueue(bytes);
    },
  });
  const world = scriptedWorld({ fetch: () => Promise.resolve(new Response(body)) });
  const gateway = testGateway(plainConfig("compat", "http://upstream.test"), world);
  const response = await callChat(gateway, { stream: true });
  return { text: await response.text(), bytesRead };
}
