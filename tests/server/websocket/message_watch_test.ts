import { assertEquals } from "../../support/assert.ts";
import type { ScriptedSocket } from "../../support/scripted_sockets.ts";
import { scriptedListener } from "../scripted_listener.ts";

const LIMITS = { headMs: 60_000, idleMs: 120_000, writeMs: 60_000 };

const MIB = 1024 * 1024;

/** A listener with one WebSocket that has received 1,000 bytes before. */
async function watched() {
  const listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  received(socket, 1_000);
  const handshake = listener.request(40_001);
  let complaints = 0;
  const watch = handshake.peer.watchMessages?.(() => complaints++);
  await handshake.end();
  // The descriptor is found.
  await listener.world.advance(100);
  return { listener, socket, watch, complaints: () => complaints };
}

function received(socket: ScriptedSocket, receivedBytes: number) {
  socket.receivedBytes = receivedBytes;
}

Deno.test("a message that grows beyond 12 MiB is noticed once, and its connection ends", async () => {
  const { listener, socket, complaints } = await watched();
  received(socket, 1_000 + 12 * MIB);
  await listener.world.advance(1_000);
  assertEquals([complaints(), listener.shutDown()], [0, []]);
  received(socket, 1_001 + 12 * MIB);
  await listener.world.advance(50);
  assertEquals([complaints(), listener.shutDown()], [1, []], "a close frame is sent first");
  await listener.world.advance(50);
  assertEquals([complaints(), listener.shutDown()], [1, [5]]);
  listener.connections.close();
});

Deno.test("messages that arrive one after the other may be large together", async () => {
  const { listener, socket, watch, complaints } = await watched();
  for (let count = 1; count <= 10; count++) {
    received(socket, count * 10 * MIB);
    await listener.world.advance(50);
    watch?.arrived();
    await listener.world.advance(50);
  }
  assertEquals([complaints(), listener.shutDown()], [0, []]);
  listener.connections.close();
});

Deno.test("bytes that the runtime has not read yet do not count", async () => {
  const { listener, socket, complaints } = await watched();
  received(socket, 20 * MIB);
  socket.unreadBytes = 9 * MIB;
  await listener.world.advance(1_000);
  assertEquals(complaints(), 0);
  socket.unreadBytes = 7 * MIB;
  await listener.world.advance(50);
  assertEquals(complaints(), 1);
  listener.connections.close();
});

Deno.test("of 1,000 sockets 256 are checked in one turn of the event loop, and all of them in later turns", async () => {
  const listener = scriptedListener(LIMITS, 2_048);
  const tooLarge: number[] = [];
  const sockets = Array.from({ length: 1_000 }, (_, index) => {
    const socket = listener.connect(index + 10, 40_000 + index);
    listener.request(40_000 + index).peer.watchMessages?.(() => tooLarge.push(index));
    return socket;
  });
  await listener.world.advance(1_000);
  for (const socket of sockets) received(socket, 20 * MIB);
  await listener.world.advance(50);
  assertEquals(tooLarge.length, 256);
  await listener.world.advance(150);
  assertEquals(new Set(tooLarge).size, 1_000);
  listener.connections.close();
});

Deno.test("no check runs after the last socket is closed", async () => {
  const { listener, socket, watch, complaints } = await watched();
  watch?.end();
  received(socket, 20 * MIB);
  await listener.world.advance(100);
  assertEquals([complaints(), listener.world.waiting], [0, 1], "only the next sweep");
  listener.connections.close();
});
