import { assert, assertEquals } from "../../support/assert.ts";
import { scriptedListener } from "../scripted_listener.ts";

const LIMITS = { headMs: 60_000, idleMs: 120_000, writeMs: 60_000 };

Deno.test("of many connections that have closed before they are searched, one in 10 ms is searched far", async () => {
  using listener = scriptedListener(LIMITS, 4_096);
  const { sockets, world } = listener;
  sockets.lowestFree = () => 2_000;
  const looksFor = (port: number) => {
    const fields = { host: "localhost", "transfer-encoding": "chunked" };
    const { peer } = listener.request(port, fields);
    peer.admitted?.({ bodyHasEnded: true, bodyBytes: 0 });
    const before = sockets.identityLooks;
    assertEquals(peer.isLast?.(), false);
    return sockets.identityLooks - before;
  };
  for (let period = 0; period < 2; period++) {
    assert(looksFor(40_000) >= 1_024);
    for (let port = 40_001; port < 40_050; port++) assert(looksFor(port) <= 100);
    await world.advance(10);
  }
});
