import { newPlainCodec } from "../../../src/store/records/plain_codec.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import type { StateStore } from "../../../src/store/state_store.ts";
import { newRealWorld } from "../../../src/cli/real_world.ts";
import { use } from "../quotas/use.ts";
import { settingsOf } from "./store.ts";

// A process with a store, for tests of its end and of its permissions. The first argument says what
// it does, the second one is the path of the database. It prints one line for each thing it has
// done.

/** Bounds that no test reaches. */
export const ROOMY = {
  ttlMs: 3_600_000,
  ownerTtlMs: 3_600_000,
  maxObjects: 1_000_000,
  maxBytes: 1024 ** 3,
};

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

async function bindAndStore({ objects }: StateStore, id: string): Promise<boolean> {
  const owner = { provider: "p", account: "a", origin: null, creator: null };
  const item = { id: `item ${id}`, type: "message", text: id.repeat(50) };
  const snapshot = { resource: { id, output: [item] }, input: [{ id: `shared`, type: "x" }] };
  const caller = { name: null, isIsolated: false };
  const response = { owner, snapshot, isNative: false };
  const stored = await objects.responses.store(id, response, caller);
  return stored.ok && stored.value !== null;
}

/**
 * Charges calls and stores responses until the process is killed, four at a time, and prints what
 * is stored.
 */
async function charge(store: StateStore, prefix: string): Promise<void> {
  for (let at = 0;; at += 4) {
    const ids = [0, 1, 2, 3].map((part) => `${prefix}-${at + part}`);
    await Promise.all(ids.map(async (id) => {
      const spends = [{ window: "usd d:1", amount: 1, ttlMs: ROOMY.ttlMs }];
      const settling = store.quotas.settle(id, [use("a", { spends })]);
      await Promise.all([settling, bindAndStore(store, id)]);
      print(id);
    }));
  }
}

async function main([action = "", path = "", prefix = ""]: readonly string[]): Promise<void> {
  const world = newRealWorld();
  const ignore = () => {};
  const dependencies = { world, codec: newPlainCodec(), log: { warn: ignore, error: ignore } };
  const opened = await openSqliteStore(settingsOf(path, ROOMY), dependencies);
  if (!opened.ok) {
    world.close();
    return print(opened.problem);
  }
  const { store } = opened;
  print("open");
  if (action === "charge") return await charge(store, prefix);
  if (action === "hold") await Deno.stdin.read(new Uint8Array(1));
  if (action === "revoke") {
    print(Deno.permissions.revokeSync({ name: "write" }).state);
    for (let at = 0; at < 3_000; at += 100) {
      const ids = Array.from({ length: 100 }, (_id, part) => `${at + part}`);
      await Promise.all(ids.map((id) => bindAndStore(store, id)));
    }
    print(String(store.objects.stats().responses.entries));
  }
  await store.close();
  world.close();
}

if (import.meta.main) await main(Deno.args);
