import { assertEquals } from "../../support/assert.ts";
import { scriptedListener } from "../scripted_listener.ts";

const LIMITS = { headMs: 60_000, idleMs: 120_000, writeMs: 60_000 };

/** A response that the runtime has taken, while these bytes wait in the system. */
async function waitingResponse(unsentBytes: number, descriptor = 5) {
  const listener = scriptedListener(LIMITS, 4_096);
  const socket = listener.connect(descriptor, 40_001);
  socket.unsentBytes = unsentBytes;
  await listener.world.advance(6_000);
  const request = listener.request(40_001);
  const taken: string[] = [];
  request.peer.whenTaken?.(() => taken.push("taken"));
  return { listener, socket, request, taken };
}

Deno.test("a response is taken when the runtime has all of it and nothing waits in the system", async () => {
  const { listener, request, taken } = await waitingResponse(0);
  await listener.world.advance(1_000);
  assertEquals(taken, [], "the runtime has not all of it");
  await request.end();
  assertEquals(taken, ["taken"], "without a delay");
  listener.connections.close();
});

Deno.test("a response of which bytes wait is taken as soon as they are sent", async () => {
  const { listener, socket, request, taken } = await waitingResponse(1_000);
  await request.end();
  await listener.world.advance(1_000);
  assertEquals(taken, []);
  socket.unsentBytes = 0;
  await listener.world.advance(20);
  assertEquals(taken, ["taken"]);
  listener.connections.close();
});

Deno.test("the next request of a connection shows that its last response was taken", async () => {
  const { listener, socket, request, taken } = await waitingResponse(1_000);
  await request.end();
  socket.unsentBytes = 0;
  listener.request(40_001);
  assertEquals(taken, ["taken"]);
  listener.connections.close();
});

Deno.test("the response of a new connection is taken without a delay, wherever the process has its other descriptors", async () => {
  const listener = scriptedListener(LIMITS, 4_096);
  listener.sockets.lowestFree = () => 10;
  listener.connect(400, 40_001);
  const request = listener.request(40_001);
  const taken: string[] = [];
  request.peer.whenTaken?.(() => taken.push("taken"));
  await request.end();
  assertEquals(taken, ["taken"]);
  listener.connections.close();
});

Deno.test("a response is over when its connection is gone, or the listener closes", async () => {
  const gone = await waitingResponse(1_000);
  await gone.request.end();
  gone.listener.sockets.open.clear();
  await gone.listener.world.advance(1_000);
  assertEquals(gone.taken, ["taken"]);
  gone.listener.connections.close();

  const closing = await waitingResponse(1_000);
  await closing.request.end();
  closing.listener.connections.close();
  assertEquals(closing.taken, ["taken"]);
});

Deno.test("the connection of a response is found where the system puts new ones, without a sweep", async () => {
  using listener = scriptedListener(LIMITS, 4_096);
  listener.connect(3_000, 40_001);
  listener.sockets.lowestFree = () => 3_002;
  const request = listener.request(40_001);
  const taken: string[] = [];
  request.peer.whenTaken?.(() => taken.push("taken"));
  listener.sockets.identityLooks = 0;
  await request.end();
  assertEquals(taken, ["taken"]);
  assertEquals(listener.sockets.identityLooks < 20, true, String(listener.sockets.identityLooks));
});
