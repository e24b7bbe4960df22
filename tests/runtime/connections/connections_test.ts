import { MAX_STEPS_PER_TURN } from "../../../src/runtime/walk.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { newConnections } from "../../../src/runtime/connections/connections.ts";
import { scriptedSocket, scriptedSockets } from "../../support/scripted_sockets.ts";
import { scriptedWorld } from "../../support/world.ts";
import { scriptedListener } from "../scripted_listener.ts";

const LIMITS = { headMs: 60_000, idleMs: 120_000, writeMs: 60_000 };

/** The longest time after a limit at which it is noticed. */
const SWEEP_MS = 5_100;

Deno.test("a connection without a whole request head is closed after 60 s", async () => {
  using listener = scriptedListener(LIMITS);
  listener.connect(5, 40_001);
  const half = listener.connect(6, 40_002);
  for (let count = 0; count < 11; count++) {
    listener.receive(half, 10);
    await listener.world.advance(5_000);
  }
  assertEquals(listener.shutDown(), []);
  await listener.world.advance(5_000 + SWEEP_MS);
  assertEquals(listener.shutDown(), [5, 6]);
});

Deno.test("the time of a connection counts from its opening, not from when it was found", async () => {
  using listener = scriptedListener(LIMITS);
  listener.connect(5, 40_001).receivedMs = -58_000;
  await listener.world.advance(SWEEP_MS);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("a connection is closed when it was idle for the idle timeout after its last request", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  for (const rest of [100_000, 119_000]) {
    listener.receive(socket, 100);
    await listener.request(40_001).end();
    await listener.world.advance(rest);
    assertEquals(listener.shutDown(), []);
  }
  await listener.world.advance(1_000 + SWEEP_MS);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("a later request has 60 s for its head from its first bytes", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  listener.receive(socket, 100);
  await listener.request(40_001).end();
  await listener.world.advance(10_000);
  listener.receive(socket, 10);
  await listener.world.advance(59_000);
  assertEquals(listener.shutDown(), []);
  await listener.world.advance(1_000 + SWEEP_MS);
  assertEquals(listener.shutDown(), [5]);
});

for (const http2 of [false, true]) {
  Deno.test(`a connection that is written to before its first request ${http2 ? "may be" : "is reset as"} one of HTTP/2`, async () => {
    using listener = scriptedListener({ ...LIMITS, http2 });
    for (const [at, port] of [40_001, 40_002].entries()) {
      const socket = listener.connect(5 + at, port);
      listener.receive(socket, 100);
      socket.writtenBytes = 100;
    }
    await listener.request(40_002).end();
    await listener.world.advance(SWEEP_MS);
    assertEquals(listener.shutDown(), http2 ? [] : [5]);
  });
}

Deno.test("when the event loop was blocked for more than 100 ms, connections are looked at at once", async () => {
  const world = scriptedWorld();
  let lateMs = 0;
  const sockets = scriptedSockets(64);
  sockets.resident = 1;
  const socket = scriptedSocket("127.0.0.1 8080", "127.0.0.1 40001");
  Object.assign(socket, { receivedBytes: 100, writtenBytes: 100 });
  sockets.open.set(5, socket);
  const address = { hostname: "127.0.0.1", port: 8080 };
  const clock = { now: () => world.now() + lateMs, after: world.after };
  const connections = newConnections(sockets, address, { ...LIMITS, http2: false }, clock);
  for (const ms of [100, 101]) {
    lateMs += ms;
    await world.advance(50);
    assertEquals(socket.isShutDown, ms > 100);
  }
  connections.close();
});

Deno.test("a head that becomes whole in time starts the time of the next one", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  for (let count = 0; count < 5; count++) {
    listener.receive(socket, 100);
    await listener.request(40_001).end();
    await listener.world.advance(1_000);
    listener.receive(socket, 10);
    await listener.world.advance(50_000);
  }
  assertEquals(listener.shutDown(), []);
});

Deno.test("a connection with a request in flight is never closed", async () => {
  using listener = scriptedListener(LIMITS);
  listener.receive(listener.connect(5, 40_001), 100);
  const first = listener.request(40_001);
  const second = listener.request(40_001);
  await listener.world.advance(300_000);
  await first.end();
  await listener.world.advance(300_000);
  assertEquals(listener.shutDown(), []);
  await second.end();
  await listener.world.advance(130_000);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("a connection is not closed while its client reads a response slowly, and is closed when the client stops reading", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  listener.receive(socket, 100);
  const request = listener.request(40_001);
  await request.end();
  socket.isDelivered = false;
  socket.unsentBytes = 1_000_000;
  // The start of a next request, which the runtime reads only after this response.
  await listener.world.advance(1_000);
  listener.receive(socket, 10);
  for (let count = 0; count < 20; count++) {
    await listener.world.advance(50_000);
    socket.acknowledgedBytes += 55_000;
  }
  assertEquals(listener.shutDown(), []);
  await listener.world.advance(55_000);
  assertEquals(listener.shutDown(), []);
  await listener.world.advance(10_000 + SWEEP_MS);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("a connection is idle once its client has slowly read the whole response", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  listener.receive(socket, 100);
  await listener.request(40_001).end();
  socket.unsentBytes = 1_000;
  for (let count = 0; count < 3; count++) {
    socket.acknowledgedBytes += 60_000;
    await listener.world.advance(50_000);
  }
  assertEquals(listener.shutDown(), []);
  socket.unsentBytes = 0;
  socket.acknowledgedBytes += 1_000;
  await listener.world.advance(75_000);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("a WebSocket is never closed while it is open, however its watch ends", async () => {
  using listener = scriptedListener({ headMs: 1_000, idleMs: 1_000, writeMs: 60_000 });
  listener.receive(listener.connect(5, 40_001), 100);
  const handshake = listener.request(40_001);
  const watch = handshake.peer.watchMessages?.(
    0,
    ({ isMessage }) => assert(!isMessage, "nothing has grown"),
  );
  await handshake.end();
  await listener.world.advance(5_000);
  assertEquals(listener.shutDown(), []);
  watch?.end();
  watch?.end();
  const next = listener.request(40_001);
  await listener.world.advance(5_000);
  assertEquals(listener.shutDown(), []);
  await next.end();
  await listener.world.advance(2_000);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("an HTTP/2 connection may send pings, and is idle nevertheless", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  listener.receive(socket, 100);
  await listener.request(40_001, {}).end();
  for (let count = 0; count < 23; count++) {
    await listener.world.advance(5_000);
    listener.receive(socket, 17);
  }
  assertEquals(listener.shutDown(), []);
  await listener.world.advance(5_000 + SWEEP_MS);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("an HTTP/2 request that has arrived but is not read yet is not cut off", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  listener.receive(socket, 100);
  await listener.request(40_001, {}).end();
  socket.unreadBytes = 60;
  for (let count = 0; count < 260; count++) {
    await listener.world.advance(500);
    listener.receive(socket, 1);
  }
  assertEquals(listener.shutDown(), []);
  await listener.world.advance(1_000 + SWEEP_MS);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("other sockets of the process are never shut down", async () => {
  using listener = scriptedListener(LIMITS);
  const { open } = listener.sockets;
  open.set(3, scriptedSocket("127.0.0.1 8080", null));
  open.set(4, scriptedSocket("127.0.0.1 50001", "192.0.2.1 443"));
  open.set(5, scriptedSocket("127.0.0.1 50002", "127.0.0.1 8080"));
  open.set(6, scriptedSocket("127.0.0.1 18080", "127.0.0.1 40001"));
  await listener.world.advance(600_000);
  assertEquals(listener.shutDown(), []);
});

Deno.test("a descriptor that was reused by another connection has the timeouts of that connection", async () => {
  using listener = scriptedListener(LIMITS);
  listener.connect(5, 40_001);
  await listener.world.advance(58_000);
  listener.connect(5, 40_002);
  await listener.world.advance(58_000);
  listener.sockets.open.set(5, scriptedSocket("127.0.0.1 50001", "192.0.2.1 443"));
  await listener.world.advance(600_000);
  assertEquals(listener.shutDown(), []);
});

Deno.test("a connection that comes back from the same port is a new one", async () => {
  using listener = scriptedListener(LIMITS);
  listener.receive(listener.connect(5, 40_001), 100);
  const stuck = listener.request(40_001);
  await listener.world.advance(20_000);
  listener.sockets.open.delete(5);
  await listener.world.advance(SWEEP_MS);
  listener.connect(9, 40_001);
  await listener.world.advance(SWEEP_MS);
  // The old connection's request ends only now, and is no matter of the new one.
  await stuck.end();
  await listener.world.advance(50_000);
  assertEquals(listener.shutDown(), []);
  await listener.world.advance(10_000);
  assertEquals(listener.shutDown(), [9]);
});

Deno.test("a connection on a reused port does not inherit the timeouts of the earlier connection", async () => {
  for (const descriptor of [5, 6]) {
    for (const hasServed of [true, false]) {
      const listener = scriptedListener({ headMs: 60_000, idleMs: 20_000, writeMs: 60_000 });
      const socket = listener.connect(5, 40_001);
      if (hasServed) {
        listener.receive(socket, 100);
        await listener.request(40_001).end();
      }
      await listener.world.advance(19_000);
      listener.sockets.open.delete(5);
      listener.connect(descriptor, 40_001);
      await listener.world.advance(19_000);
      assertEquals(listener.shutDown(), []);
      await listener.world.advance(1_000 + SWEEP_MS);
      assertEquals(listener.shutDown(), [descriptor]);
      listener.connections.close();
    }
  }
});

for (const hasServed of [true, false]) {
  Deno.test(`a connection that comes back from the same port within a sweep has the timeout of ${hasServed ? "its next request" : "a new one"}`, async () => {
    using listener = scriptedListener(LIMITS);
    listener.connect(5, 40_001);
    await listener.world.advance(SWEEP_MS);
    const socket = listener.connect(5, 40_001);
    listener.receive(socket, 100);
    if (hasServed) {
      await listener.request(40_001).end();
      socket.writtenBytes = 100;
    }
    await listener.world.advance(60_000 + SWEEP_MS);
    assertEquals(listener.shutDown(), hasServed ? [] : [5]);
    await listener.world.advance(60_000);
    assertEquals(listener.shutDown(), [5]);
  });
}

for (const second of [4, 6]) {
  Deno.test(`of two connections from one port to two addresses each has 60 s for its head, also in front of the first one: ${second}`, async () => {
    using listener = scriptedListener(LIMITS);
    const first = listener.connect(5, 40_001);
    await listener.world.advance(SWEEP_MS);
    const other = listener.connect(second, 40_001);
    for (let count = 0; count < 10; count++) {
      listener.receive(first, 10);
      listener.receive(other, 10);
      await listener.world.advance(5_000);
      assertEquals(listener.shutDown(), []);
    }
    await listener.world.advance(10_000 + SWEEP_MS);
    assertEquals(listener.shutDown().toSorted(), [second, 5].toSorted());
  });

  Deno.test(`of two connections from one port to two addresses the one on which a response was sent rests from then on: ${second}`, async () => {
    using listener = scriptedListener(LIMITS);
    const first = listener.connect(5, 40_001);
    const other = listener.connect(second, 40_001);
    await listener.world.advance(2 * SWEEP_MS);
    listener.receive(other, 100);
    const request = listener.request(40_001);
    await listener.world.advance(100_000);
    assertEquals(listener.shutDown(), [], "none ends while a request is in flight");
    other.writtenBytes = 100;
    await request.end();
    await listener.world.advance(SWEEP_MS);
    assertEquals(listener.shutDown(), [5]);
    listener.sockets.open.delete(5);
    assertEquals(first.isShutDown, true);
    await listener.world.advance(100_000);
    assertEquals(listener.shutDown(), []);
    await listener.world.advance(20_000);
    assertEquals(listener.shutDown(), [second]);
  });

  Deno.test(`of two connections from one port to two addresses each is reset whose client takes nothing: ${second}`, async () => {
    using listener = scriptedListener(LIMITS);
    const first = listener.connect(5, 40_001);
    const other = listener.connect(second, 40_001);
    const reading = listener.connect(7, 40_001);
    listener.request(40_001);
    for (const socket of [first, other, reading]) {
      Object.assign(socket, { receivedBytes: 100, writtenBytes: 100_000, unsentBytes: 100_000 });
    }
    for (let count = 0; count < 13; count++) {
      await listener.world.advance(5_000);
      reading.acknowledgedBytes += 6_000;
    }
    await listener.world.advance(SWEEP_MS);
    assertEquals(listener.shutDown().toSorted(), [second, 5].toSorted());
  });
}

Deno.test("requests on one of two connections from one port to two addresses give the other one no time", async () => {
  using listener = scriptedListener(LIMITS);
  const first = listener.connect(5, 40_001);
  const other = listener.connect(6, 40_001);
  await listener.world.advance(SWEEP_MS);
  for (const socket of [other, ...Array.from({ length: 8 }, () => first)]) {
    listener.receive(socket, 100);
    const request = listener.request(40_001);
    socket.writtenBytes += 100;
    await request.end();
    await listener.world.advance(5_000);
    listener.receive(other, 1);
    await listener.world.advance(5_000);
  }
  assertEquals(listener.shutDown(), [6]);
});

Deno.test("a connection of HTTP/2 stays one while its client has another one from its port", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  listener.receive(socket, 100);
  await listener.request(40_001, {}).end();
  await listener.world.advance(SWEEP_MS);
  listener.connect(6, 40_001);
  for (let count = 0; count < 20; count++) {
    await listener.world.advance(5_000);
    listener.receive(socket, 17);
  }
  assertEquals(listener.shutDown(), [6]);
});

Deno.test("of two connections from one port to two addresses none ends early, because it may be the wrong one", async () => {
  using listener = scriptedListener(LIMITS);
  listener.receive(listener.connect(5, 40_001), 100);
  listener.receive(listener.connect(6, 40_001), 100);
  await listener.world.advance(SWEEP_MS);
  const large = { host: "localhost", "content-length": "40000" };
  const request = listener.request(40_001, large, "POST");
  request.peer.disconnect?.();
  await request.end();
  request.peer.disconnect?.();
  await listener.world.advance(10_000);
  assertEquals(listener.shutDown(), []);
});

Deno.test("a socket with two descriptors is one connection", async () => {
  using listener = scriptedListener(LIMITS);
  listener.sockets.open.set(6, listener.connect(5, 40_001));
  await listener.world.advance(2 * SWEEP_MS);
  assertEquals(listener.shutDown(), []);
});

Deno.test("a sweep checks 10,000 connections in slices, and closes them", async () => {
  using listener = scriptedListener(LIMITS, 16_384);
  for (let number = 0; number < 10_000; number++) {
    // All of them are due at the second sweep.
    listener.connect(number, 50_000 - number).receivedMs = -54_000;
  }
  const { sockets, world } = listener;
  let most = 0;
  await world.advance(4_999);
  for (let ms = 0; ms < 400; ms++) {
    sockets.identityLooks = 0;
    await world.advance(1);
    most = Math.max(most, sockets.identityLooks);
  }
  assertEquals(most, MAX_STEPS_PER_TURN);
  assertEquals(listener.shutDown(), []);
  await world.advance(6_500);
  assertEquals(listener.shutDown().length, 10_000);
});

Deno.test("nothing is left to do once the listener is closed, also amid a sweep", async () => {
  for (const ms of [0, 5_002]) {
    const listener = scriptedListener(LIMITS, 16_384);
    listener.connect(5, 40_001);
    await listener.world.advance(ms);
    listener.connections.close();
    assertEquals([listener.world.waiting, listener.sockets.isClosed], [0, true]);
  }
});

Deno.test("the descriptors of 300 sockets that open at once are found in one search, not in one for each", () => {
  using listener = scriptedListener(LIMITS, 4_096);
  const { sockets } = listener;
  for (let index = 0; index < 300; index++) listener.connect(index + 10, 40_000 + index);
  sockets.lowestFree = () => 310;
  const requests = Array.from({ length: 300 }, (_, index) => listener.request(40_000 + index));
  sockets.identityLooks = 0;
  for (const { peer } of requests) peer.watchMessages?.(0, () => {});
  assert(sockets.identityLooks < 2_000, `${sockets.identityLooks} descriptors were looked at`);
  assert([...sockets.open.values()].every(({ receiveBufferBytes }) => receiveBufferBytes !== null));
});

Deno.test("an open WebSocket gives another connection from its port no time", async () => {
  using listener = scriptedListener(LIMITS);
  listener.receive(listener.connect(5, 40_001), 100);
  const socket = listener.connect(6, 40_001);
  listener.receive(socket, 100);
  await listener.world.advance(SWEEP_MS);
  const handshake = listener.request(40_001);
  await handshake.peer.located?.();
  listener.answer(socket);
  handshake.peer.watchMessages?.(0, () => {});
  await handshake.end();
  await listener.world.advance(60_000 + SWEEP_MS);
  assertEquals(listener.shutDown(), [5]);
  await listener.world.advance(600_000);
  assertEquals(listener.shutDown(), [5]);
});

for (const waiting of [5, 6]) {
  Deno.test(`of two connections from one port bytes wait if they do on any of them, and a request on one delays none on the other: ${waiting}`, async () => {
    using listener = scriptedListener(LIMITS);
    for (const descriptor of [5, 6]) {
      listener.connect(descriptor, 40_001).unsentBytes = descriptor === waiting ? 1_000 : 0;
    }
    await listener.world.advance(SWEEP_MS);
    const { peer } = listener.request(40_001);
    listener.request(40_001);
    assertEquals([peer.waitsInSystem?.(), peer.isShared?.()], [true, false]);
  });
}
