import {
  headSince,
  type IdleState,
  isOverdue,
  newIdleLimits,
} from "../../../src/runtime/connections/idle_rules.ts";
import { assertEquals } from "../../support/assert.ts";
import { SILENT } from "../../support/scripted_sockets.ts";

const LIMITS = { headMs: 60_000, idleMs: 120_000, writeMs: 60_000 };

const NEW: IdleState = {
  sinceMs: 0,
  hasServed: false,
  isMultiplexed: false,
  headSinceMs: null,
  acknowledgedBytes: 0,
};
const SERVED: IdleState = { ...NEW, hasServed: true };

/** Returns the time at which a connection becomes overdue. */
function overdueAt(resting: IdleState, limits = LIMITS): number | null {
  if (isOverdue(resting, resting.sinceMs, limits)) return resting.sinceMs;
  for (const ms of [1_000, 2_000, 60_000, 61_000, 120_000, 3_600_000]) {
    if (!isOverdue(resting, ms, limits)) continue;
    assertEquals(isOverdue(resting, ms - 1, limits), false);
    return ms;
  }
  return null;
}

Deno.test("a gateway waits 60 s for a request head, and as configured for a request", () => {
  assertEquals(newIdleLimits({ idle_timeout: 120_000, write_timeout: 60_000 }), LIMITS);
});

Deno.test("a connection that sends nothing has the shorter one of both limits", () => {
  assertEquals(headSince(NEW, SILENT, 5_000), null);
  assertEquals(overdueAt(NEW), 60_000);
  assertEquals(overdueAt(NEW, { headMs: 60_000, idleMs: 2_000, writeMs: 60_000 }), 2_000);
});

Deno.test("the first head must be whole 60 s after the connection was opened, whatever else comes", () => {
  const headSinceMs = headSince(NEW, { ...SILENT, receivedBytes: 1 }, 40_000);
  assertEquals(headSinceMs, 0);
  assertEquals(overdueAt({ ...NEW, headSinceMs }), 60_000);
  assertEquals(
    overdueAt({ ...NEW, headSinceMs }, { headMs: 60_000, idleMs: 1_000, writeMs: 60_000 }),
    60_000,
  );
});

Deno.test("between requests a connection may be idle for the idle timeout, and bytes within 20 ms of a response are no request", () => {
  const traffic = { ...SILENT, receivedBytes: 100 };
  assertEquals(headSince(SERVED, { ...traffic, silentMs: 50_000 }, 50_000), null);
  assertEquals(headSince(SERVED, { ...traffic, silentMs: 49_980 }, 50_000), null, "a clock's tick");
  assertEquals(headSince(SERVED, { ...traffic, silentMs: 49_979 }, 50_000), 21);
  assertEquals(overdueAt(SERVED), 120_000);
  assertEquals(overdueAt(SERVED, { headMs: 60_000, idleMs: 1_000, writeMs: 60_000 }), 1_000);
});

Deno.test("a later head has 60 s from its first bytes, and more bytes give no more time", () => {
  const headSinceMs = headSince(SERVED, { ...SILENT, receivedBytes: 101, silentMs: 500 }, 1_500);
  assertEquals(headSinceMs, 1_000);
  const dripped = headSince({ ...SERVED, headSinceMs }, { ...SILENT, receivedBytes: 150 }, 50_000);
  assertEquals(dripped, 1_000);
  assertEquals(overdueAt({ ...SERVED, headSinceMs }), 61_000);
});

Deno.test("frames that an HTTP/2 client sends between its requests are no request", () => {
  const resting = { ...SERVED, isMultiplexed: true };
  const headSinceMs = headSince(resting, { ...SILENT, receivedBytes: 1_000 }, 100_000);
  assertEquals(headSinceMs, null);
  assertEquals(overdueAt(resting), 120_000);
});
