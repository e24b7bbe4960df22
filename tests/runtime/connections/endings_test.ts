import { assertEquals } from "../../support/assert.ts";
import { scriptedListener } from "../scripted_listener.ts";

const LIMITS = { headMs: 60_000, idleMs: 120_000, writeMs: 60_000 };

Deno.test("a connection that must end is closed once its response was delivered", async () => {
  using listener = scriptedListener(LIMITS);
  const socket = listener.connect(5, 40_001);
  listener.connect(6, 40_002);
  const request = listener.request(40_001);
  request.peer.disconnect?.();
  await listener.world.advance(1_000);
  assertEquals(listener.shutDown(), [], "the response is not there yet");
  socket.isDelivered = false;
  await request.end();
  await listener.world.advance(1_000);
  assertEquals(listener.shutDown(), [], "the client has not taken it yet");
  socket.isDelivered = true;
  await listener.world.advance(20);
  assertEquals(listener.shutDown(), [], "the runtime may not have written all of it");
  await listener.world.advance(20);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("a client that does not take the response is disconnected after 5 s", async () => {
  using listener = scriptedListener(LIMITS);
  listener.connect(5, 40_001).isDelivered = false;
  const request = listener.request(40_001);
  request.peer.disconnect?.();
  await request.end();
  await listener.world.advance(4_900);
  assertEquals(listener.shutDown(), []);
  await listener.world.advance(200);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("a connection is ended after its response, too, and not while another is in flight", async () => {
  using listener = scriptedListener(LIMITS);
  listener.connect(5, 40_001);
  const first = listener.request(40_001);
  await first.end();
  first.peer.disconnect?.();
  const second = listener.request(40_001);
  await listener.world.advance(10_000);
  assertEquals(listener.shutDown(), []);
  await second.end();
  await listener.world.advance(100);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("only the connection itself is ended, wherever it is found, or none when it is gone", async () => {
  using listener = scriptedListener(LIMITS, 1_024);
  listener.connect(700, 40_001);
  const moved = listener.request(40_001);
  listener.connect(5, 40_002);
  const gone = listener.request(40_002);
  await listener.world.advance(6_000);
  listener.connect(5, 40_003);
  for (const request of [moved, gone]) {
    request.peer.disconnect?.();
    await request.end();
  }
  await listener.world.advance(30_000);
  assertEquals(listener.shutDown(), [700]);
  assertEquals(listener.world.waiting, 1, "only the next sweep");
});

Deno.test("a connection is aborted at once on request, also with a response in flight that its client does not take", async () => {
  using listener = scriptedListener(LIMITS);
  listener.connect(5, 40_001).isDelivered = false;
  listener.connect(6, 40_002);
  const request = listener.request(40_001);
  request.peer.abort?.();
  await listener.world.advance(100);
  assertEquals(listener.shutDown(), [5]);
});

/** A head after which the connection ends, because the runtime keeps its buffer. */
const LARGE_HEAD = { host: "localhost", "x-long": "x".repeat(40_000) };

for (const isDelivered of [true, false]) {
  const how = isDelivered ? "was ended" : "leaves before that";
  Deno.test(`a client whose connection ${how} may come back from its port`, async () => {
    using listener = scriptedListener(LIMITS);
    const { sockets, world } = listener;
    sockets.lowestFree = () => 6;
    listener.connect(5, 40_001).isDelivered = isDelivered;
    await listener.request(40_001, LARGE_HEAD).end();
    await world.advance(100);
    assertEquals(listener.shutDown(), isDelivered ? [5] : []);
    // No sweep has found its next connection when the response ends.
    listener.connect(5, 40_001);
    await listener.request(40_001).end();
    await world.advance(30_000);
    await listener.request(40_001).end();
    await world.advance(10_000);
    assertEquals(listener.shutDown(), []);
  });
}

Deno.test("a response that was not sent ends no later connection from the same port", async () => {
  using listener = scriptedListener(LIMITS);
  listener.connect(5, 40_001);
  await listener.world.advance(6_000);
  const failed = listener.request(40_001, LARGE_HEAD);
  listener.connect(5, 40_001);
  await failed.fail();
  await listener.world.advance(10_000);
  await listener.request(40_001).end();
  await listener.world.advance(10_000);
  assertEquals(listener.shutDown(), []);
});

Deno.test("what was to end with a connection stays open if its client comes back meanwhile", async () => {
  using listener = scriptedListener(LIMITS);
  listener.connect(5, 40_001);
  await listener.world.advance(6_000);
  const request = listener.request(40_001);
  request.peer.disconnect?.();
  listener.connect(5, 40_001);
  // A sweep finds the new connection.
  await listener.world.advance(6_000);
  await request.end();
  await listener.world.advance(10_000);
  assertEquals(listener.shutDown(), []);
});

Deno.test("of two connections from one port none is aborted, because it may be the wrong one", async () => {
  using listener = scriptedListener(LIMITS);
  listener.connect(5, 40_001);
  listener.connect(6, 40_001);
  await listener.world.advance(6_000);
  const { peer } = listener.request(40_001);
  peer.abort?.();
  await listener.world.advance(1_000);
  assertEquals(listener.shutDown(), []);
});
