import type { FallbackOperation } from "../core/state_operation.ts";
import type { World } from "../core/world.ts";
import { newRecordCodec } from "./records/new_codec.ts";
import type { RecordCodec } from "./records/record_codec.ts";
import type { StateSettings, StoreName } from "./settings.ts";
import type { OpenedStore } from "./state_store.ts";

/** Dependencies of a store outside the memory of the process. */
export interface StoreDependencies {
  readonly world: World;
  readonly codec: RecordCodec;
  /** Writes a line to the log; never content, keys or passwords. */
  readonly log: StoreLog;
  /** Counts an operation of quotas that the process does itself while its store is away. */
  onQuotaFallback?(operation: FallbackOperation): void;
}

/** Log of a store. */
export interface StoreLog {
  warn(message: string): void;
  error(message: string): void;
}

/** Opens a store of one kind. */
export type OpenStore = (
  settings: StateSettings,
  dependencies: StoreDependencies,
) => Promise<OpenedStore>;

/** Stores outside the memory of the process. Each is loaded only if the configuration names it. */
const STORES: Readonly<Partial<Record<StoreName, () => Promise<OpenStore>>>> = {
  sqlite: async () => (await import("./sqlite/open.ts")).openSqliteStore,
  valkey: async () => (await import("./valkey/open.ts")).openValkeyStore,
};

/**
 * Opens the state store of the configuration; null for the memory of the process, which the gateway
 * uses without a store.
 */
export async function openStateStore(
  settings: StateSettings,
  dependencies: Omit<StoreDependencies, "codec">,
): Promise<OpenedStore | null> {
  const { store } = settings;
  if (store === "memory") return null;
  const load = STORES[store];
  if (load === undefined) {
    return { ok: false, problem: `state.store: this version has no store '${store}'` };
  }
  const open = await load();
  const codec = newRecordCodec(settings.encryption_keys, dependencies.log);
  return await open(settings, { ...dependencies, codec });
}
