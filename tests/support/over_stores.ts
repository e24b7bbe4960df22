import type { World } from "../../src/core/world.ts";
import { openStateStore } from "../../src/state/open_store.ts";
import type { StateSettings } from "../../src/state/settings.ts";
import type { StateStore } from "../../src/state/state_store.ts";
import { settingsOf } from "../state/sqlite/store.ts";
import { PATIENT_TIMEOUT_MS } from "../state/valkey/connections.ts";
import { newPrefix, storeSettings } from "../state/valkey/stores.ts";
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
 * `storeUnderTest` has a separate, empty store.
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
  const folder = await Deno.makeTempDir({ prefix: "switchyard-store-" });
  return {
    store: await openStore(settingsOf(`${folder}/state.db`), world),
    release: () => Deno.remove(folder, { recursive: true }),
  };
};

const openValkey: OpenStoreUnderTest = async (world) => {
  const valkey = { prefix: newPrefix(), timeout: PATIENT_TIMEOUT_MS };
  return {
    store: await openStore(storeSettings(server.url, { valkey }), world),
    release: () => Promise.resolve(),
  };
};

async function openStore(settings: StateSettings, world: World): Promise<StateStore> {
  const opened = await openStateStore(settings, { world, log: LOG });
  if (!opened?.ok) throw new Error(opened?.problem ?? "the settings name no store");
  return opened.store;
}
