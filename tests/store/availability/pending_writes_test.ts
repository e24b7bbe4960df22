import { success } from "../../../src/core/failure/result.ts";
import { type Loss, newPendingWrites } from "../../../src/store/availability/pending_writes.ts";
import { newMemoryObjectStore } from "../../../src/store/memory/object_store.ts";
import type { OutcomeWrite } from "../../../src/store/outcome_store.ts";
import type { RecordId } from "../../../src/store/records/record_store.ts";
import { storeUnavailable } from "../../../src/store/store_failure.ts";
import { NO_TURNS } from "../../../src/traffic/loop_turns.ts";
import { assertEquals } from "../../support/assert.ts";

/** Waiting writes over a store that a test switches, and the order of what was written. */
function pendingWrites({ ttlMs = 1_000, maxBytes = 100_000 } = {}) {
  const clock = { time: 0 };
  const store = { isAway: true };
  const tried: string[] = [];
  const losses: Loss[] = [];
  const now = () => clock.time;
  const objects = newMemoryObjectStore(now);
  const pending = newPendingWrites({
    turns: NO_TURNS,
    now,
    objects,
    ttlMs,
    maxBytes,
    onLost: (loss) => void losses.push(loss),
  });

  function write(name: string, bytes = 1): OutcomeWrite {
    return {
      operation: "response_store",
      bytes: () => bytes,
      run(target) {
        if (target !== objects) return Promise.resolve(success(null));
        tried.push(name);
        return Promise.resolve(store.isAway ? storeUnavailable() : success(null));
      },
    };
  }

  return { clock, store, tried, losses, pending, write };
}

/** The record of an object. Its ID counts 17 bytes. */
function record(id: string): RecordId {
  return { type: "response", id };
}

Deno.test("writes of one object are made in their order, and an outage stops all of them", async () => {
  const { store, tried, pending, write } = pendingWrites();
  for (const name of ["a1", "b1", "a2", "b2", "a3"]) {
    pending.add(record(name.charAt(0)), write(name));
  }
  await pending.flush();
  assertEquals([tried, pending.count], [["a1"], 5]);
  store.isAway = false;
  await pending.flush();
  // A write that the store does not make does not stop those of other objects the next time.
  assertEquals(tried, ["a1", "b1", "b2", "a1", "a2", "a3"]);
  assertEquals([pending.count, pending.has(record("a"))], [0, false]);
});

Deno.test("a write in progress is not made twice", async () => {
  const { store, tried, pending, write } = pendingWrites();
  store.isAway = false;
  pending.add(record("a"), write("a1"));
  pending.add(record("a"), write("a2"));
  await Promise.all([pending.flush(), pending.flushObject(record("a")), pending.flush()]);
  assertEquals(tried, ["a1", "a2"]);
});

Deno.test("a write in progress is not replaced, and its successor follows it", async () => {
  const { store, tried, pending, write } = pendingWrites();
  store.isAway = false;
  pending.add(record("a"), write("a1"));
  pending.add(record("a"), write("a2"));
  const flushed = pending.flushObject(record("a"));
  pending.replace(record("a"), write("delete"));
  assertEquals([await flushed, tried, pending.count], [true, ["a1", "delete"], 0]);
});

Deno.test("waiting writes are limited in bytes and in number, and what is beyond is lost", () => {
  const few = pendingWrites({ maxBytes: 44 });
  assertEquals(few.pending.add(record("a"), few.write("a", 6)), true);
  assertEquals(few.pending.add(record("b"), few.write("b", 5)), false);
  assertEquals(few.pending.add(record("c"), few.write("c", 4)), true);
  const full = { reason: "full", writes: 1, operation: "response_store", failure: null } as const;
  assertEquals(few.losses, [full]);
  const many = pendingWrites({ maxBytes: 1_000_000 });
  for (let number = 0; number < 10_000; number++) {
    many.pending.add(record(`${number}`), many.write("x"));
  }
  assertEquals([many.pending.count, many.losses], [10_000, []]);
  assertEquals([many.pending.add(record("more"), many.write("x")), many.losses], [false, [full]]);
});

Deno.test("the bytes of a write are free again once it is made, replaced or expired", async () => {
  const { clock, store, pending, write } = pendingWrites({ maxBytes: 27 });
  pending.add(record("a"), write("a", 10));
  pending.replace(record("a"), write("b", 10));
  assertEquals(pending.add(record("c"), write("c")), false);
  clock.time = 1_000;
  pending.dropExpired();
  assertEquals([pending.count, pending.add(record("c"), write("c", 10))], [0, true]);
  store.isAway = false;
  await pending.flush();
  assertEquals(pending.add(record("d"), write("d", 10)), true);
});

Deno.test("an expired write is not made, and later writes of the object are", async () => {
  const { clock, store, tried, losses, pending, write } = pendingWrites();
  pending.add(record("a"), write("a1"));
  clock.time = 500;
  pending.add(record("a"), write("a2"));
  clock.time = 1_200;
  store.isAway = false;
  await pending.flush();
  assertEquals([tried, losses.map(({ reason }) => reason)], [["a2"], ["expired"]]);
});

Deno.test("what begins to wait after the end is lost", async () => {
  const { losses, pending, write } = pendingWrites();
  pending.add(record("a"), write("a1"));
  await pending.close();
  assertEquals([pending.add(record("a"), write("a2")), pending.count], [false, 0]);
  assertEquals(losses.map(({ reason, writes }) => [reason, writes]), [
    ["shutdown", 1],
    ["shutdown", 1],
  ]);
});
