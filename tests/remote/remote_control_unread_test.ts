import { createHash } from "node:crypto";
import { assert, assertEquals } from "../support/assert.ts";
import { openLine } from "../support/line.ts";
import { readRequest } from "../support/received_request.ts";
import { command, startRemote } from "../support/remote.ts";

/** A text frame from a server, of at most 65535 ASCII characters (RFC 6455, section 5.2). */
function textFrame(text: string): Uint8Array {
  const content = new TextEncoder().encode(text);
  return Uint8Array.of(0x81, 126, content.length >> 8, content.length & 0xff, ...content);
}

/** Accepts a handshake (RFC 6455, section 4.2.2). */
function acceptance(key: string): Uint8Array {
  const digest = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
  return new TextEncoder().encode(
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
      `Sec-WebSocket-Accept: ${digest.digest("base64")}\r\n\r\n`,
  );
}

Deno.test("a dashboard that sends commands and never reads is disconnected before responses pile up", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const answer = "a".repeat(16 * 1024 * 1024);
  let served = 0;
  await using remote = startRemote({
    backendUrl: `http://127.0.0.1:${listener.addr.port}`,
    handle() {
      served++;
      return Promise.resolve(new Response(answer));
    },
  });
  const line = openLine(await listener.accept());
  listener.close();
  const request = await readRequest(line.read);
  assert(request !== null);
  await line.write(acceptance(request.headers["sec-websocket-key"] ?? ""));
  for (let index = 1; index <= 8; index++) {
    await line.write(textFrame(JSON.stringify(command(`c-${index}`))));
  }
  await remote.logged("no connection for remote control");
  assertEquals(served, 8);
  line.close();
});
