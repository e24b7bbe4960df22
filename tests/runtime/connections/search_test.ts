import { assert, assertEquals } from "../../support/assert.ts";
import { type ScriptedListener, scriptedListener } from "../scripted_listener.ts";

const LIMITS = { headMs: 60_000, idleMs: 120_000, writeMs: 60_000 };

/** The longest time until a search of 10,000 descriptors has ended, in turns of 1 ms. */
const SEARCH_MS = 5;

/** Returns a listener whose sweeps have found 10,000 connections. */
async function crowdedListener(): Promise<ScriptedListener> {
  const listener = scriptedListener(LIMITS, 16_384);
  for (let number = 10; number < 10_000; number++) listener.connect(number, 50_000 - number);
  listener.sockets.lowestFree = () => 10_000;
  await listener.world.advance(6_000);
  return listener;
}

/** A client's connection takes the descriptor, and its handshake waits until it is found. */
function shakeHands(listener: ScriptedListener, descriptor: number, port: number) {
  listener.connect(descriptor, port);
  const handshake = { isLocated: false };
  void listener.request(port).peer.located?.().then(() => handshake.isLocated = true);
  return handshake;
}

for (const hole of [20, 5_000, 9_000]) {
  Deno.test(`a handshake on the reused descriptor ${hole} of 10,000 waits for no sweep`, async () => {
    using listener = await crowdedListener();
    const handshake = shakeHands(listener, hole, 60_000);
    await listener.world.advance(SEARCH_MS);
    assert(handshake.isLocated);
  });
}

Deno.test("once most connections have closed, a search goes to the highest one that is left", async () => {
  using listener = await crowdedListener();
  const { sockets, world } = listener;
  for (let number = 3_000; number < 10_000; number++) sockets.open.delete(number);
  sockets.lowestFree = () => 3_000;
  // Two sweeps.
  await world.advance(12_000);
  const handshake = shakeHands(listener, 20, 60_000);
  // A connection that is none of this process ends a search at its bound.
  sockets.identityLooks = 0;
  void listener.request(61_000).peer.located?.();
  await world.advance(1);
  assert(handshake.isLocated);
  assert(sockets.identityLooks < 6_500, `${sockets.identityLooks} looks`);
});

Deno.test("handshakes on many reused descriptors are found in one search, and a flood of them waits between two", async () => {
  using listener = await crowdedListener();
  const { sockets, world } = listener;
  const first = Array.from(
    { length: 300 },
    (_, index) => shakeHands(listener, 20 + index, 51_000 + index),
  );
  // The near ones are looked at for each.
  sockets.lowestFree = () => null;
  sockets.identityLooks = 0;
  const later = Array.from(
    { length: 300 },
    (_, index) => shakeHands(listener, 5_000 + index, 52_000 + index),
  );
  await world.advance(2 * SEARCH_MS + 20);
  for (const { isLocated } of [...first, ...later]) assert(isLocated);
  assert(sockets.identityLooks < 25_000, `${sockets.identityLooks} looks`);
});

Deno.test("a handshake waits for no search once the listener is closed", async () => {
  const listener = await crowdedListener();
  const handshakes = [20, 9_000].map((hole) => shakeHands(listener, hole, 60_000 + hole));
  listener.connections.close();
  await listener.world.advance(0);
  assertEquals(handshakes.map(({ isLocated }) => isLocated), [true, true]);
  assertEquals(listener.world.waiting, 0);
});
