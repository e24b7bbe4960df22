import { assert, assertEquals } from "../../support/assert.ts";
import { type ScriptedListener, scriptedListener } from "../scripted_listener.ts";

const LIMITS = { headMs: 60_000, idleMs: 120_000, writeMs: 60_000 };

/** Returns a listener whose lowest free descriptor is 2,000. */
function listenerAt2000(): ScriptedListener {
  const listener = scriptedListener(LIMITS, 4_096);
  listener.sockets.lowestFree = () => 2_000;
  return listener;
}

/** Returns how many descriptors are looked at for a connection that must be found now. */
function looksFor({ sockets, request }: ScriptedListener, port: number): number {
  const { peer } = request(port, { host: "localhost", "transfer-encoding": "chunked" });
  peer.admitted?.({ bodyHasEnded: true, bodyBytes: 0 });
  const before = sockets.identityLooks;
  assertEquals(peer.isLast?.(), false);
  return sockets.identityLooks - before;
}

Deno.test("of many connections that have closed before they are searched, one in 10 ms is searched far", async () => {
  using listener = listenerAt2000();
  for (let period = 0; period < 2; period++) {
    assert(looksFor(listener, 40_000) >= 1_024);
    for (let port = 40_001; port < 40_050; port++) assert(looksFor(listener, port) <= 100);
    await listener.world.advance(10);
  }
});

Deno.test("a connection that is found soon keeps none from being searched far 1 ms later", async () => {
  using listener = listenerAt2000();
  listener.connect(1_990, 40_000);
  assert(looksFor(listener, 40_000) <= 100);
  await listener.world.advance(1);
  assert(looksFor(listener, 40_001) >= 1_024);
});
