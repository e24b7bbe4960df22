import { openStateStore } from "../../src/store/open_store.ts";
import { newPlainCodec } from "../../src/store/records/plain_codec.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { OpenedStore, StateStore } from "../../src/store/state_store.ts";
import { newThreadStarter } from "../store/sqlite/kept_threads.ts";
import { newMemoryFolder, settingsOf } from "../store/sqlite/store.ts";
import { PATIENT_TIMEOUT_MS } from "../store/valkey/connections.ts";
import { newPrefix, storeSettings } from "../store/valkey/stores.ts";
import { type OpenStoreUnderTest, withStores } from "./store_under_test.ts";
import { sharedValkeyServer, valkeyTest } from "./valkey_server.ts";

const server = await sharedValkeyServer();

const LOG = { warn() {}, error() {} };

/** The stores of a gateway, in the order of their tests. */
export const STORES = ["memory", "sqlite", "valkey"] as const;

/** The stores with the clock of the test. A server has its own. */
export const CLOCKED_STORES = ["memory", "sqlite"] as const;

/**
 * Registers a test once for each store. Every gateway that the test makes with a fixture that knows
 * `storeUnderTest` has a separate, empty store. It is for results that depend on what a store has:
 * a request that is refused before, or whose response is not stored, is the same over each of them.
 */
export function testOverStores(
  name: string,
  run: () => void | Promise<void>,
  stores: readonly typeof STORES[number][] = STORES,
): void {
  for (const store of stores) {
    const whole = async () => await run();
    if (store === "memory") Deno.test(name, whole);
    else if (store === "sqlite") {
      Deno.test(`${name} (store sqlite)`, () => withStores(openSqlite, whole));
    } else valkeyTest(`${name} (store valkey)`, () => withStores(openValkey, whole));
  }
}

const openSqlite: OpenStoreUnderTest = async (world) => {
  const folder = await newMemoryFolder();
  const dependencies = { world, log: LOG, codec: newPlainCodec() };
  const { start } = newThreadStarter();
  return {
    store: storeOf(
      await openSqliteStore(settingsOf(`${folder}/state.db`), dependencies, { start }),
    ),
    release: () => Deno.remove(folder, { recursive: true }),
  };
};

const openValkey: OpenStoreUnderTest = async (world) => {
  const valkey = { prefix: newPrefix(), timeout: PATIENT_TIMEOUT_MS };
  return {
    store: storeOf(
      await openStateStore(storeSettings(server.url, { valkey }), { world, log: LOG }),
    ),
    release: () => Promise.resolve(),
  };
};

function storeOf(opened: OpenedStore | null): StateStore {
  if (!opened?.ok) throw new Error(opened?.problem ?? "the settings name no store");
  return opened.store;
}
