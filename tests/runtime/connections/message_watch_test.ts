import type { UnfinishedMessage } from "../../../src/runtime/peer.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import type { Connection } from "../../../src/runtime/connections/connection.ts";
import { newConnections } from "../../../src/runtime/connections/connections.ts";
import { unknownHandshake } from "../../../src/runtime/connections/handshakes.ts";
import { newMessageWatches } from "../../../src/runtime/connections/message_watch.ts";
import {
  type ScriptedSocket,
  scriptedSocket,
  scriptedSockets,
} from "../../support/scripted_sockets.ts";
import { scriptedWorld } from "../../support/world.ts";
import { scriptedListener } from "../scripted_listener.ts";

const LIMITS = { headMs: 60_000, idleMs: 120_000, writeMs: 60_000 };

const KIB = 1024;
const MIB = 1024 * 1024;

const HEAD_BYTES = 1_000;

/** A listener with one WebSocket whose handshake is all that its connection has received. */
async function watched() {
  const listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  received(socket, HEAD_BYTES);
  const handshake = listener.request(40_001);
  let last: UnfinishedMessage = { bytes: -1, isMessage: false };
  const watch = handshake.peer.watchMessages?.(HEAD_BYTES, (unfinished) => last = unfinished);
  assert(watch !== undefined);
  await handshake.end();
  // The descriptor is found.
  await listener.world.advance(100);
  return { listener, socket, watch, last: () => last };
}

function received(socket: ScriptedSocket, receivedBytes: number) {
  socket.receivedBytes = receivedBytes;
}

Deno.test("an unfinished message counts from its first byte on, also what arrives with the handshake", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  received(socket, HEAD_BYTES + 5 * MIB);
  const seen: number[] = [];
  listener.request(40_001).peer.watchMessages?.(HEAD_BYTES, ({ bytes }) => seen.push(bytes));
  await listener.world.advance(50);
  assertEquals(seen, [5 * MIB]);
  received(socket, HEAD_BYTES + 5 * MIB + 1);
  await listener.world.advance(50);
  assertEquals(seen, [5 * MIB, 5 * MIB + 1]);
});

Deno.test("what arrives before a new connection is watched counts, though the connection is known by then", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  received(socket, HEAD_BYTES);
  const { peer } = listener.request(40_001);
  peer.whenTaken?.(() => {});
  await listener.world.advance(6_000);
  received(socket, HEAD_BYTES + 5 * MIB);
  const seen: number[] = [];
  peer.watchMessages?.(HEAD_BYTES, ({ bytes }) => seen.push(bytes));
  await listener.world.advance(50);
  assertEquals(seen, [5 * MIB]);
});

Deno.test("what a connection has received for earlier requests does not count", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  received(socket, 50 * MIB);
  await listener.request(40_001).end();
  await listener.world.advance(6_000);
  received(socket, 50 * MIB + HEAD_BYTES);
  const seen: number[] = [];
  const { peer } = listener.request(40_001);
  await peer.located?.();
  peer.watchMessages?.(HEAD_BYTES, ({ bytes }) => seen.push(bytes));
  received(socket, 50 * MIB + HEAD_BYTES + 7);
  await listener.world.advance(50);
  assertEquals(seen, [7]);
});

Deno.test("what has arrived after the end of a message is a part of the next one", async () => {
  const { listener, socket, watch, last } = await watched();
  received(socket, HEAD_BYTES + 10 + 5 * MIB);
  watch.arrived(10);
  await listener.world.advance(50);
  assert(last().bytes > 5 * MIB - 2 * KIB, `${last().bytes} are counted`);
  listener.connections.close();
});

Deno.test("messages that arrive one after the other in fragments leave nothing behind", async () => {
  const { listener, socket, watch, last } = await watched();
  for (let count = 1, at = HEAD_BYTES; count <= 100; count++) {
    at += 10 * MIB + 10 * 1024 * 8;
    received(socket, at);
    await listener.world.advance(50);
    watch.arrived(10 * MIB);
    await listener.world.advance(50);
    assertEquals(last(), { bytes: 0, isMessage: false });
  }
  listener.connections.close();
});

Deno.test("bytes that the runtime has not read yet do not count", async () => {
  const { listener, socket, last } = await watched();
  received(socket, HEAD_BYTES + 20 * MIB);
  socket.unreadBytes = 9 * MIB;
  await listener.world.advance(50);
  assertEquals(last(), { bytes: 11 * MIB, isMessage: true });
  listener.connections.close();
});

Deno.test("pings are no message, up to 32 bytes a second and 64 KiB since the last message", () => {
  const clock = { time: 0, look: () => {} };
  const socket = scriptedSocket("127.0.0.1 8080", "127.0.0.1 40001");
  const sockets = scriptedSockets(64);
  sockets.open.set(5, socket);
  const connections = newConnections(
    sockets,
    { hostname: "127.0.0.1", port: 8080 },
    { ...LIMITS, http2: true },
    scriptedWorld(),
  );
  const remoteAddr = { transport: "tcp", hostname: "127.0.0.1", port: 40_001 } as const;
  const info = { remoteAddr, completed: Promise.resolve() };
  const connection = connections.enter(new Request("http://localhost/"), info) as Connection;
  const at = { descriptor: 5, socket: socket.identity, writtenBytes: 0, readBytes: 0 };
  let isMessage = false;
  const watches = newMessageWatches(sockets, {
    now: () => clock.time,
    after(_ms, look) {
      clock.look = look;
      return () => {};
    },
  }, {
    find: () => at,
    searchSoon: () => {},
    searched: () => Promise.resolve(),
    abortSoon: () => {},
  });
  const handshake = { ...unknownHandshake(connection), headBytes: 0 };
  const watch = watches.add(
    connection,
    handshake,
    (unfinished) => isMessage = unfinished.isMessage,
  );
  for (clock.time = 50_000; clock.time < 3_000_000; clock.time += 50_000) {
    socket.receivedBytes += 50 * 20;
    clock.look();
    assert(!isMessage, `${clock.time} ms`);
  }
  socket.receivedBytes = 64 * KIB + 1;
  clock.look();
  assert(isMessage);
  watch.arrived(100);
  clock.look();
  assert(!isMessage);
  connections.close();
});

Deno.test("at once more than 1 KiB of pings is a message", async () => {
  const { listener, socket, last } = await watched();
  received(socket, HEAD_BYTES + KIB);
  await listener.world.advance(50);
  assertEquals(last().isMessage, false);
  received(socket, HEAD_BYTES + KIB + 100);
  await listener.world.advance(50);
  assertEquals(last().isMessage, true);
  listener.connections.close();
});

Deno.test("little of what a socket sends waits in the kernel", async () => {
  const { listener, socket } = await watched();
  assertEquals(socket.receiveBufferBytes, 64 * KIB);
  listener.connections.close();
});

Deno.test("a connection far from the free descriptors is found by a sweep of all, and bounded from the beginning", async () => {
  using listener = scriptedListener(LIMITS, 2_048);
  const socket = listener.connect(1_500, 40_001);
  const { peer } = listener.request(40_001);
  let isLocated = false;
  const located = peer.located?.().then(() => isLocated = true);
  await Promise.resolve();
  assertEquals(isLocated, false);
  await listener.world.advance(1_000);
  await located;
  peer.watchMessages?.(0, () => {});
  assertEquals(socket.receiveBufferBytes, 64 * KIB);
});

Deno.test("the wait for a connection ends when a sweep has not found it, and when the listener closes", async () => {
  using listener = scriptedListener(LIMITS);
  const gone = listener.request(40_001).peer.located?.();
  await listener.world.advance(1_000);
  await gone;
  const { peer } = listener.request(40_002);
  const closed = peer.located?.();
  listener.sockets.identityLooks = 0;
  listener.connections.close();
  await closed;
  await peer.located?.();
  assertEquals(listener.sockets.identityLooks, 0, "nothing is looked for any more");
});

Deno.test("the more sockets have unfinished messages, the less of each waits in the kernel: 2 MiB for all, at least 4 KiB for one", async () => {
  using listener = scriptedListener(LIMITS, 2_048);
  const sockets = Array.from({ length: 1_000 }, (_, index) => {
    const socket = listener.connect(index + 10, 40_000 + index);
    const { peer } = listener.request(40_000 + index);
    return { socket, watch: peer.watchMessages?.(0, () => {}) };
  });
  const bounds = () => [...new Set(sockets.map(({ socket }) => socket.receiveBufferBytes))];
  const arrive = async (count: number) => {
    for (const { socket } of sockets.slice(0, count)) received(socket, MIB);
    await listener.world.advance(1_000);
  };
  await arrive(32);
  assertEquals(bounds(), [64 * KIB]);
  await arrive(33);
  assertEquals(bounds(), [32 * KIB]);
  await arrive(512);
  assertEquals(bounds(), [4 * KIB]);
  await arrive(1_000);
  assertEquals(bounds(), [4 * KIB]);
  for (const { watch } of sockets.slice(0, 500)) watch?.arrived(MIB);
  for (const { watch } of sockets.slice(500, 968)) watch?.end();
  await listener.world.advance(1_000);
  assertEquals(
    new Set(sockets.slice(0, 500).map(({ socket }) => socket.receiveBufferBytes)),
    new Set([64 * KIB]),
  );
});

Deno.test("a client that comes back from its port is counted by its new connection", async () => {
  const { listener, socket, last } = await watched();
  received(socket, HEAD_BYTES + 5 * MIB);
  await listener.world.advance(50);
  received(socket, HEAD_BYTES / 2);
  await listener.world.advance(50);
  assertEquals(last().bytes, HEAD_BYTES / 2);
  listener.connections.close();
});

Deno.test("of 1,000 sockets 256 are checked in one turn of the event loop, and all of them in later turns", async () => {
  using listener = scriptedListener(LIMITS, 2_048);
  const tooLarge: number[] = [];
  const sockets = Array.from({ length: 1_000 }, (_, index) => {
    const socket = listener.connect(index + 10, 40_000 + index);
    listener.request(40_000 + index).peer.watchMessages?.(0, ({ bytes }) => {
      if (bytes > 12 * MIB) tooLarge.push(index);
    });
    return socket;
  });
  await listener.world.advance(1_000);
  for (const socket of sockets) received(socket, 20 * MIB);
  await listener.world.advance(50);
  assertEquals(tooLarge.length, 256);
  await listener.world.advance(150);
  assertEquals(new Set(tooLarge).size, 1_000);
});

Deno.test("1 MiB is searched for empty frames in one turn of the event loop, and more in the next ones", async () => {
  using listener = scriptedListener(LIMITS);
  const checked: number[] = [];
  for (let index = 0; index < 48; index++) {
    const socket = listener.connect(index + 5, 40_000 + index);
    received(socket, HEAD_BYTES);
    const { peer } = listener.request(40_000 + index);
    peer.watchMessages?.(HEAD_BYTES, () => checked.push(index));
    Object.assign(socket, { unreadBytes: 64 * KIB, unread: new Uint8Array(64 * KIB).fill(0x20) });
  }
  await listener.world.advance(100);
  checked.splice(0);
  await listener.world.advance(50);
  assertEquals(checked.length, 16);
  await listener.world.advance(100);
  assertEquals(new Set(checked).size, 48);
});

Deno.test("no check runs after the last socket is closed", async () => {
  const { listener, socket, watch, last } = await watched();
  watch.end();
  received(socket, 20 * MIB);
  await listener.world.advance(100);
  assertEquals([last().bytes, listener.world.waiting], [0, 1], "only the next sweep");
  listener.connections.close();
});

Deno.test("replies to pings beyond 1 KiB, and 32 bytes a second, are too many; sent messages are none", async () => {
  const { listener, socket, watch, last } = await watched();
  using _listener = listener;
  const seconds = 10;
  await listener.world.advance(seconds * 1_000);
  watch.sent(1 * MIB);
  socket.writtenBytes += 1 * MIB + 1 * KIB + seconds * 32;
  await listener.world.advance(50);
  assertEquals(last().isFlood, undefined);
  socket.writtenBytes += 100;
  await listener.world.advance(50);
  assertEquals(last().isFlood, true);
});

Deno.test("after a flood of pings the next one is looked for every 5 ms, and ended at once", async () => {
  const listener = scriptedListener(LIMITS);
  const [first, second] = [5, 6].map((descriptor) => {
    const socket = listener.connect(descriptor, 40_000 + descriptor);
    received(socket, HEAD_BYTES);
    listener.request(40_000 + descriptor).peer.watchMessages?.(HEAD_BYTES, () => {});
    return socket;
  });
  assert(first !== undefined && second !== undefined);
  await listener.world.advance(200);
  first.writtenBytes = 1.5 * KIB;
  await listener.world.advance(50);
  assertEquals(first.isShutDown, false, "there is time for a close frame");
  first.writtenBytes = 3 * KIB;
  await listener.world.advance(5);
  assertEquals([first.isShutDown, second.isShutDown], [true, false]);
  second.writtenBytes = 3 * KIB;
  await listener.world.advance(5);
  assertEquals(second.isShutDown, true);
  listener.connections.close();
});

Deno.test("pings or pongs that wait in the kernel end each socket beyond two before the runtime reads them; a message like them ends none", async () => {
  using listener = scriptedListener(LIMITS);
  const sockets = Array.from({ length: 20 }, (_, index) => {
    const socket = listener.connect(index + 5, 40_000 + index);
    received(socket, HEAD_BYTES);
    listener.request(40_000 + index).peer.watchMessages?.(HEAD_BYTES, () => {});
    return socket;
  });
  await listener.world.advance(50);
  const ended = () => sockets.filter(({ isShutDown }) => isShutDown).length;
  const flood = async (some: readonly ScriptedSocket[], bytes = [0x89, 0x80, 0, 0, 0, 0]) => {
    const unread = new Uint8Array(Array.from({ length: 100 }, () => bytes).flat());
    for (const socket of some) Object.assign(socket, { unread, unreadBytes: unread.length });
    await listener.world.advance(50);
  };
  await flood(sockets.slice(0, 2));
  assertEquals(ended(), 0);
  await flood(sockets.slice(2, 10));
  assertEquals(ended(), 8);
  await flood(sockets.slice(10, 18), [0x8a, 0]);
  assertEquals(ended(), 16);
  assert(sockets.slice(2, 18).every(({ unreadBytes }) => unreadBytes === 0), "they are discarded");
  for (const socket of sockets.slice(0, 2)) socket.unreadBytes = 0;
  await listener.world.advance(50);
  await flood(sockets.slice(18));
  assertEquals(ended(), 16);
});

Deno.test("a flood of pings that begins with the socket is found by the first check", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  received(socket, HEAD_BYTES);
  const { peer } = listener.request(40_001);
  peer.whenTaken?.(() => {});
  await listener.world.advance(6_000);
  peer.watchMessages?.(HEAD_BYTES, () => {});
  socket.writtenBytes = 4 * KIB;
  await listener.world.advance(50);
  assertEquals(socket.isShutDown, true);
});

Deno.test("what a client has received before it is watched is no reply to its pings", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  received(socket, HEAD_BYTES);
  socket.writtenBytes = 50 * MIB;
  let last: UnfinishedMessage = { bytes: -1, isMessage: false };
  listener.request(40_001).peer.watchMessages?.(HEAD_BYTES, (unfinished) => last = unfinished);
  await listener.world.advance(100);
  assertEquals(last, { bytes: 0, isMessage: false });
});

/** Time until the first check has failed, and a search of all has ended. */
const SEARCH_MS = 100;

/**
 * Two sockets from one port to two addresses, of which the second one is that of a WebSocket;
 * `isKnown` if a sweep has found it before its handshake.
 */
async function sharedPort(isKnown: boolean) {
  const listener = scriptedListener(LIMITS);
  const plain = listener.connect(5, 40_001);
  received(plain, HEAD_BYTES);
  await listener.request(40_001).end();
  const connect = () => listener.connect(6, 40_001);
  const early = isKnown ? connect() : null;
  await listener.world.advance(6_000);
  const socket = early ?? connect();
  received(socket, HEAD_BYTES);
  const { peer, end } = listener.request(40_001);
  await peer.located?.();
  const seen: UnfinishedMessage[] = [];
  return {
    listener,
    plain,
    socket,
    seen,
    /** The handshake is answered. */
    async open() {
      listener.answer(socket);
      const watch = peer.watchMessages?.(HEAD_BYTES, (unfinished) => seen.push(unfinished));
      assert(watch !== undefined);
      await end();
      return watch;
    },
  };
}

for (const isKnown of [true, false]) {
  const name = isKnown ? "also before its handshake" : "not before its handshake";
  Deno.test(`of two sockets from one port the one that was answered is watched, if it was known ${name}`, async () => {
    const { listener, plain, socket, seen, open } = await sharedPort(isKnown);
    using _listener = listener;
    const watch = await open();
    await listener.world.advance(SEARCH_MS);
    assertEquals([plain.receiveBufferBytes, socket.receiveBufferBytes], [null, 64 * KIB]);
    for (let count = 0; count < 10; count++) {
      received(plain, plain.receivedBytes + 5 * MIB);
      plain.writtenBytes += 100 * KIB;
      await listener.world.advance(1_000);
    }
    assertEquals(seen.at(-1), { bytes: 0, isMessage: false });
    received(socket, HEAD_BYTES + 20 * MIB);
    await listener.world.advance(50);
    assertEquals(seen.at(-1), { bytes: 20 * MIB, isMessage: true });
    watch.abort();
    await listener.world.advance(50);
    assertEquals(listener.shutDown(), [6]);
  });

  Deno.test(`a WebSocket on a port with another response is reported as not known, and ends no socket, if its own was known ${name}`, async () => {
    const { listener, plain, seen, open } = await sharedPort(isKnown);
    using _listener = listener;
    const other = listener.request(40_001);
    plain.writtenBytes += 10 * KIB;
    const watch = await open();
    await other.end();
    await listener.world.advance(SEARCH_MS);
    assertEquals(seen, [{ bytes: 0, isMessage: false, isUnknown: true }]);
    watch.abort();
    await listener.world.advance(1_000);
    watch.end();
    assertEquals([seen.length, listener.shutDown()], [1, []]);
  });
}

Deno.test("two WebSockets from one port are watched each for itself", async () => {
  const { listener, plain, socket, seen, open } = await sharedPort(true);
  using _listener = listener;
  const watch = await open();
  await listener.world.advance(SEARCH_MS);
  const { peer } = listener.request(40_001);
  await peer.located?.();
  watch.sent(10 * KIB);
  socket.writtenBytes += 10 * KIB;
  listener.answer(plain);
  received(plain, HEAD_BYTES * 2);
  const further: number[] = [];
  peer.watchMessages?.(HEAD_BYTES, ({ bytes }) => further.push(bytes));
  await listener.world.advance(SEARCH_MS);
  received(plain, plain.receivedBytes + MIB);
  received(socket, socket.receivedBytes + 2 * MIB);
  await listener.world.advance(50);
  assertEquals([seen.at(-1)?.bytes, further.at(-1)], [2 * MIB, HEAD_BYTES + MIB]);
});

Deno.test("a WebSocket of one of 17 sockets from one port is not looked for", async () => {
  const { listener, seen, open } = await sharedPort(true);
  using _listener = listener;
  for (let descriptor = 7; descriptor < 22; descriptor++) listener.connect(descriptor, 40_001);
  await listener.world.advance(6_000);
  assertEquals(await listener.request(40_001).peer.located?.(), false);
  await open();
  await listener.world.advance(SEARCH_MS);
  assertEquals(seen, [{ bytes: 0, isMessage: false, isUnknown: true }]);
});

Deno.test("a WebSocket that is aborted before its socket is known ends once it is", async () => {
  const { listener, open } = await sharedPort(false);
  using _listener = listener;
  (await open()).abort();
  await listener.world.advance(SEARCH_MS + 50);
  assertEquals(listener.shutDown(), [6]);
});

Deno.test("the only socket from its port is watched, also if the system does not count what was written", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  received(socket, HEAD_BYTES);
  const { peer } = listener.request(40_001);
  const seen: number[] = [];
  peer.watchMessages?.(HEAD_BYTES, ({ bytes }) => seen.push(bytes));
  socket.writtenBytes = 0;
  received(socket, HEAD_BYTES + MIB);
  await listener.world.advance(SEARCH_MS + 50);
  assertEquals(seen.at(-1), MIB);
});

Deno.test("whole messages that arrive before the socket is known count no more once it is", async () => {
  const { listener, socket, seen, open } = await sharedPort(false);
  using _listener = listener;
  const watch = await open();
  received(socket, HEAD_BYTES + 10 * MIB + 14);
  watch.arrived(10 * MIB);
  await listener.world.advance(SEARCH_MS);
  assertEquals(seen.at(-1), { bytes: 14, isMessage: false });
});
