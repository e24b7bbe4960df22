import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { create } from "../../support/socket_client.ts";
import { oneProvider } from "../../support/gateway.ts";
import {
  BINARY_CODE,
  CONTINUES_CODE,
  frame,
  handshake,
  TEXT_CODE,
} from "../../support/raw_frames.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { saying, wordStreams } from "../../support/word_stream.ts";
import { connectRaw } from "../raw_connection.ts";

const CONFIG = oneProvider("http://up.test");

const FRAGMENT_BYTES = 256 * 1024;

/** Bound of an unfinished message; a busy machine notices its growth later than an idle one. */
const MAX_SENT_BYTES = 512 * 1024 * 1024;

/** A close frame with the code 1009. */
const TOO_LARGE = "\x03\xf1";

for (const opcode of [TEXT_CODE, BINARY_CODE]) {
  Deno.test(`a message in fragments without end closes its socket (opcode ${opcode})`, async () => {
    await using served = socketGateway(CONFIG, wordStreams(() => saying("Hi")));
    await using bystander = await served.open();
    await using raw = await connectRaw(served.url);
    await raw.send(handshake(new URL(served.url).host));
    await raw.receiveUntil("\r\n\r\n");
    const received = raw.receiveUntil(TOO_LARGE);
    const fragment = "x".repeat(FRAGMENT_BYTES);
    let sentBytes = 0;
    let isOpen = await raw.send(frame(opcode, fragment, false));
    while (isOpen && sentBytes < MAX_SENT_BYTES) {
      isOpen = await raw.send(frame(CONTINUES_CODE, fragment, false));
      sentBytes += FRAGMENT_BYTES;
    }
    assert(!isOpen, `${sentBytes} bytes were taken`);
    assert(sentBytes > 10 * 1024 * 1024, `only ${sentBytes} bytes were taken`);
    assertStringIncludes(await received, TOO_LARGE);
    assertEquals((await bystander.turn(create())).output, "Hi");
    await bystander.close();
    await served.gateway.state.inFlight.idle();
    assertEquals(await served.sockets(), 0);
  });
}

Deno.test("a message in fragments of 10 MiB in all is served, also the next one", async () => {
  await using served = socketGateway(CONFIG, wordStreams(() => saying("taken")));
  await using raw = await connectRaw(served.url);
  await raw.send(handshake(new URL(served.url).host));
  await raw.receiveUntil("\r\n\r\n");
  const empty = JSON.stringify(create({ input: "" }));
  const input = "x".repeat(10 * 1024 * 1024 - empty.length);
  const bytes = new TextEncoder().encode(JSON.stringify(create({ input })));
  for (let count = 0; count < 2; count++) {
    for (let at = 0; at < bytes.length; at += FRAGMENT_BYTES) {
      const end = at + FRAGMENT_BYTES;
      const opcode = at === 0 ? TEXT_CODE : CONTINUES_CODE;
      await raw.send(frame(opcode, bytes.subarray(at, end), end >= bytes.length));
    }
    assertStringIncludes(await raw.receiveUntil('"type":"response.completed"'), '"text":"taken"');
  }
});
