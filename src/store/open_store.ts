import { newRecordCodec } from "./records/new_codec.ts";
import type { StateSettings, StoreName } from "./settings.ts";
import type { OpenedStore } from "./state_store.ts";
import type { StoreDependencies } from "./store_dependencies.ts";

/** Opens a store of one kind. */
export type OpenStore = (
  settings: StateSettings,
  dependencies: StoreDependencies,
) => Promise<OpenedStore>;

/** Stores outside the process. Each is loaded only if the configuration names it. */
const STORES: Readonly<Record<Exclude<StoreName, "none" | "memory">, () => Promise<OpenStore>>> = {
  sqlite: async () => (await import("./sqlite/open.ts")).openSqliteStore,
  valkey: async () => (await import("./valkey/open.ts")).openValkeyStore,
};

/**
 * Opens the state store of the configuration; null for the memory of the process and for none,
 * which the gateway has without opening anything.
 */
export async function openStateStore(
  settings: StateSettings,
  dependencies: Omit<StoreDependencies, "codec">,
): Promise<OpenedStore | null> {
  const { store } = settings;
  if (store === "none" || store === "memory") return null;
  const open = await STORES[store]();
  const codec = newRecordCodec(settings.encryption_keys, dependencies.log);
  return await open(settings, { ...dependencies, codec });
}
