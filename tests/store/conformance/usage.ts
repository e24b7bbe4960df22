import { OTHER_MODEL, type UsageRow, userRowName } from "../../../src/core/usage_row.ts";
import type { UsageStore } from "../../../src/store/usage/usage_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";

/** A row of usage; what is left out is that of one call of `ada`. */
export function usageRow(row: Partial<UsageRow> = {}): UsageRow {
  return {
    day: "2026-11-22",
    key: "ada",
    provider: "up",
    model: "m",
    calls: 1,
    input: 10,
    output: 4,
    cached: 2,
    nanoUsd: 24_000,
    estimated: 0,
    ...row,
  };
}

async function readAll(store: UsageStore, ...days: readonly string[]) {
  const found = await store.read(days);
  assert(found.ok);
  return found.value.toSorted((one, other) => JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
}

async function add(store: UsageStore, id: string, rows: readonly UsageRow[], days = 35) {
  assertEquals(await store.add({ id, rows, days }), { ok: true, value: undefined });
}

/** Checks that a store adds rows up by day, key, provider and model, and each batch once. */
export async function checkUsage(store: UsageStore): Promise<void> {
  const day = "2026-11-21";
  await add(store, "a", [
    usageRow(),
    usageRow({ model: "other" }),
    usageRow({ day }),
    usageRow({ key: 'b"\0' }),
  ]);
  await add(store, "b", [usageRow({ estimated: 1 })]);
  await add(store, "b", [usageRow({ estimated: 1 })]);
  assertEquals(await readAll(store, "2026-11-22"), [
    usageRow({ calls: 2, input: 20, output: 8, cached: 4, nanoUsd: 48_000, estimated: 1 }),
    usageRow({ model: "other" }),
    usageRow({ key: 'b"\0' }),
  ]);
  assertEquals(await readAll(store, day), [usageRow({ day })]);
  assertEquals(await readAll(store, "2026-11-20"), []);
  await add(store, "c", [usageRow({ day, calls: Number.MAX_SAFE_INTEGER })]);
  assertEquals((await readAll(store, day))[0]?.calls, Number.MAX_SAFE_INTEGER);
}

/**
 * Checks that a day has at most 10,000 rows besides those of other models: one for each client key,
 * one for all its end users and one for all clients with tokens.
 */
export async function checkUsageBound(store: UsageStore): Promise<void> {
  const models = Array.from({ length: 10_000 }, (_, index) => `m${index}`);
  await add(store, "all", models.map((model) => usageRow({ model })));
  await add(store, "more", [
    usageRow({ model: "x" }),
    usageRow({ model: "y" }),
    usageRow({ model: "m1" }),
  ]);
  const rows = await readAll(store, "2026-11-22");
  assertEquals(rows.length, 10_001);
  assertEquals(rows.find(({ model }) => model === OTHER_MODEL)?.calls, 2);
  assertEquals(rows.find(({ model }) => model === "m1")?.calls, 2);
  const users = Array.from({ length: 100 }, (_, at) => userRowName('"ada', `user${at}`));
  const clients = Array.from({ length: 100 }, (_, at) => `corp/user${at}`);
  // A key may have a slash in its name, as clients with tokens have.
  await add(store, "others", ["bob", "team/a", ...users].map((key) => usageRow({ key })));
  await add(store, "tokens", clients.map((key) => usageRow({ key, isToken: true })));
  const beyond = (await readAll(store, "2026-11-22")).filter(({ model }) => model === OTHER_MODEL);
  assertEquals(beyond.map(({ key, calls }) => [key, calls]), [
    [userRowName('"ada', "_other"), 100],
    ["_other", 100],
    ["ada", 2],
    ["bob", 1],
    ["team/a", 1],
  ]);
}
