import {
  isTooSlow,
  NOTHING_WAITS,
  type WriteState,
  writeStateAt,
} from "../../../src/runtime/connections/connection.ts";
import { assertEquals } from "../../support/assert.ts";

/**
 * Returns the second at which a client is too slow that takes these bytes in each 5 s; null if
 * never.
 */
function slowAt(taken: (look: number) => number, unsentBytes = 100_000): number | null {
  let state: WriteState = NOTHING_WAITS;
  let acknowledgedBytes = 0;
  for (let look = 0; look < 100; look++) {
    acknowledgedBytes += taken(look);
    const nowMs = look * 5_000;
    state = writeStateAt(state, { unsentBytes, acknowledgedBytes }, nowMs);
    if (isTooSlow(state, nowMs, 60_000)) return nowMs / 1_000;
  }
  return null;
}

Deno.test("a client that takes nothing, or less than 1 kB a second, is too slow after the timeout", () => {
  assertEquals(slowAt(() => 0), 60);
  assertEquals(slowAt(() => 4_999), 60);
});

Deno.test("a client that takes 1 kB a second is never too slow, also in bursts", () => {
  assertEquals(slowAt(() => 5_000), null);
  assertEquals(slowAt((look) => look % 11 === 10 ? 55_000 : 0), null);
});

Deno.test("a client that stops is too slow a timeout after its last burst", () => {
  assertEquals(slowAt((look) => look <= 4 ? 50_000 : 0), 80);
});

Deno.test("a client for which nothing waits is never too slow, however little it gets", () => {
  assertEquals(slowAt(() => 1, 0), null);
});
