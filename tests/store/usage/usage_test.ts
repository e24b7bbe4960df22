import { success } from "../../../src/core/failure/result.ts";
import { storeUnavailable } from "../../../src/store/store_failure.ts";
import { newMemoryUsage, newStoredUsage } from "../../../src/store/usage/usage.ts";
import type { UsageBatch } from "../../../src/store/usage/usage_store.ts";
import { newUsageTable } from "../../../src/store/usage/usage_table.ts";
import { assertEquals } from "../../support/assert.ts";
import { scriptedWorld } from "../../support/world.ts";
import { checkUsageBound, usageRow } from "../conformance/usage.ts";

/** A store that a test can make unavailable; it counts each batch once. */
function switchedUsage() {
  const table = newUsageTable();
  const batches: string[] = [];
  const seen = new Set<string>();
  const store = {
    mode: "up" as "up" | "away" | "silent",
    batches,
    add({ id, rows }: UsageBatch) {
      batches.push(id);
      if (store.mode !== "away" && !seen.has(id)) { for (const row of rows) table.add(row); }
      if (store.mode !== "away") seen.add(id);
      return Promise.resolve(store.mode === "up" ? success(undefined) : storeUnavailable());
    },
    read: (days: readonly string[]) =>
      Promise.resolve(success([...table.rows()].filter(({ day }) => days.includes(day)))),
    calls: () => [...table.rows()].reduce((sum, { calls }) => sum + calls, 0),
  };
  return store;
}

Deno.test("calls are written together every 5 s, not one trip each, and only while there are any", async () => {
  const world = scriptedWorld();
  const store = switchedUsage();
  const usage = newStoredUsage(store, world, 35);
  for (let call = 0; call < 100; call++) usage.add(usageRow());
  assertEquals([store.batches.length, world.waiting], [0, 1]);
  await world.advance(5_000);
  assertEquals([store.batches.length, store.calls(), world.waiting], [1, 100, 0]);
  usage.add(usageRow());
  assertEquals(await usage.close(), 0);
  assertEquals([store.calls(), world.waiting], [101, 0]);
});

Deno.test("a batch that the store may have received is sent with the same ID until it is confirmed", async () => {
  const world = scriptedWorld();
  const store = switchedUsage();
  const usage = newStoredUsage(store, world, 35);
  store.mode = "silent";
  usage.add(usageRow());
  await world.advance(5_000);
  usage.add(usageRow());
  store.mode = "away";
  await world.advance(5_000);
  store.mode = "up";
  await world.advance(5_000);
  assertEquals(store.calls(), 2);
  assertEquals(new Set(store.batches).size, 2);
  assertEquals(store.batches.slice(0, 3), Array(3).fill(store.batches[0]));
  await usage.close();
});

Deno.test("at the end the calls are known that the store has not confirmed", async () => {
  const world = scriptedWorld();
  const store = switchedUsage();
  const usage = newStoredUsage(store, world, 35);
  store.mode = "away";
  usage.add(usageRow({ calls: 2 }));
  await world.advance(5_000);
  usage.add(usageRow());
  assertEquals(await usage.close(), 3);
});

Deno.test("a read has the calls that wait for their write", async () => {
  const world = scriptedWorld();
  const usage = newStoredUsage(switchedUsage(), world, 35);
  usage.add(usageRow());
  assertEquals(await usage.read(["2026-11-22"]), { ok: true, value: [usageRow()] });
  await usage.close();
});

Deno.test("usage in memory is bounded by its rows", async () => {
  await checkUsageBound(switchedUsage());
});

Deno.test("usage in memory has the days that the configuration names, and none with 0 days", async () => {
  const usage = newMemoryUsage(2);
  for (const day of ["2026-11-20", "2026-11-21", "2026-11-22"]) usage.add(usageRow({ day }));
  usage.add(usageRow({ day: "2026-11-21" }));
  const found = await usage.read(["2026-11-20", "2026-11-21", "2026-11-22"]);
  assertEquals(found.ok && found.value.map(({ day, calls }) => [day, calls]), [
    ["2026-11-21", 2],
    ["2026-11-22", 1],
  ]);
  assertEquals([usage.isOn, newMemoryUsage(0).isOn], [true, false]);
});
