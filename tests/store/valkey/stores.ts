import type { RecordCodec } from "../../../src/store/records/record_codec.ts";
import { newPlainCodec } from "../../../src/store/records/plain_codec.ts";
import { DEFAULT_RETENTION, type Retention } from "../../../src/store/retention.ts";
import type { StateSettings, ValkeySettings } from "../../../src/store/settings.ts";
import type { StateStore } from "../../../src/store/state_store.ts";
import { openValkeyStore } from "../../../src/store/valkey/open.ts";
import { newRealWorld } from "../../../src/cli/real_world.ts";
import { type RecordedLog, recordedLog, valkeySettings } from "./connections.ts";

/** Settings of a test in place of the defaults. */
export interface StoreOptions {
  readonly retention?: Retention;
  readonly codec?: RecordCodec;
  readonly required?: boolean;
  readonly valkey?: Partial<ValkeySettings>;
  readonly log?: RecordedLog;
}

/** A store with its log. */
export interface OpenedTestStore {
  readonly store: StateStore;
  readonly log: RecordedLog;
  close(): Promise<void>;
}

let opened = 0;

/** Returns a prefix that no other test has. */
export function newPrefix(): string {
  return `test-${++opened}`;
}

/** Returns the settings of a store at this URL, with the defaults of the configuration. */
export function storeSettings(url: string, options: StoreOptions = {}): StateSettings {
  const { retention = DEFAULT_RETENTION } = options;
  return {
    store: "valkey",
    ttl: retention.ttlMs,
    owner_ttl: retention.ownerTtlMs,
    max_entries: retention.maxObjects,
    max_bytes: retention.maxBytes,
    max_items: 10_000,
    on_outage: "serve",
    usage_days: 35,
    required: options.required ?? false,
    encryption_keys: [],
    sqlite: { path: "", synchronous: "full" },
    valkey: valkeySettings(url, options.valkey),
  };
}

/** Opens a store; throws its problem if it is not opened. */
export async function openTestStore(
  url: string,
  options: StoreOptions = {},
): Promise<OpenedTestStore> {
  const { log = recordedLog(), codec = newPlainCodec() } = options;
  const world = newRealWorld();
  const result = await openValkeyStore(storeSettings(url, options), { world, codec, log });
  if (!result.ok) {
    world.close();
    throw new Error(result.problem);
  }
  const { store } = result;
  return {
    store,
    log,
    async close() {
      await store.close();
      world.close();
    },
  };
}
