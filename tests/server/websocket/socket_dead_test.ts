import { assert, assertEquals } from "../../support/assert.ts";
import { withIdleTimeout } from "../../support/idle_timeout.ts";
import { create } from "../../support/socket_client.ts";
import { oneProvider } from "../../support/gateway.ts";
import { frame, handshake, PONG_CODE, TEXT_CODE } from "../../support/raw_frames.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { heldStream, saying, wordStreams } from "../../support/word_stream.ts";
import { connectRaw } from "../raw_connection.ts";

const CONFIG = oneProvider("http://up.test");
const PING = "\x89\x00";

Deno.test("a silent client is pinged, and its socket is closed when no pong comes", async () => {
  using impatience = withIdleTimeout(0.1);
  const held = heldStream();
  await using served = socketGateway(CONFIG, wordStreams(held.answer));
  await using raw = await connectRaw(served.url);
  await raw.send(handshake(new URL(served.url).host));
  await raw.receiveUntil("\r\n\r\n");
  await raw.send(frame(TEXT_CODE, JSON.stringify(create())));
  await raw.receiveUntil(PING);
  await held.cancelled;
  await served.gateway.state.inFlight.idle();
  assertEquals(await served.sockets(), 0);
  assertEquals((await served.reported(2)).failure?.kind, "client_cancelled");
  assertEquals(impatience.wanted, [60]);
});

/** Answers four pings of a socket, then sends a message; returns the reply. */
async function replyAfterPongs(idleSeconds: number): Promise<string> {
  using _ = withIdleTimeout(idleSeconds);
  await using served = socketGateway(CONFIG);
  await using raw = await connectRaw(served.url);
  await raw.send(handshake(new URL(served.url).host));
  await raw.receiveUntil("\r\n\r\n");
  for (let asked = 0; asked < 4; asked++) {
    await raw.receiveUntil(PING);
    await raw.send(frame(PONG_CODE, ""));
  }
  await raw.send(frame(TEXT_CODE, "{}"));
  return await raw.receiveUntil('"invalid_value"');
}

Deno.test("WebSocket pongs keep an idle connection open", async () => {
  // A pong of a busy machine may come after a short timeout.
  for (const idleSeconds of [0.1, 0.4, 1.6, 6.4]) {
    if ((await replyAfterPongs(idleSeconds)).includes('"type":"error"')) return;
  }
  assert(false, "the connection was closed although each ping was answered");
});

Deno.test("a message that the runtime has lost with its connection is no message", async () => {
  const upgrade = Deno.upgradeWebSocket;
  const sockets: WebSocket[] = [];
  const observed: typeof upgrade = (request, options) => {
    const upgraded = upgrade(request, options);
    sockets.push(upgraded.socket);
    return upgraded;
  };
  assert(Reflect.set(Deno, "upgradeWebSocket", observed));
  using _ = { [Symbol.dispose]: () => void Reflect.set(Deno, "upgradeWebSocket", upgrade) };
  await using served = socketGateway(CONFIG, wordStreams(() => saying("Hi")));
  await using client = await served.open();
  for (const socket of sockets) socket.dispatchEvent(new MessageEvent("message", { data: null }));
  assertEquals(sockets.length, 1);
  assertEquals((await client.turn(JSON.stringify(create()))).output, "Hi");
  assertEquals(served.reports.length, 2, "the handshake and one message");
});
