import type { CachedResponses } from "./cached_responses.ts";
import type { ObjectStore, Stored } from "./object_store.ts";
import type { PrivacyValues } from "./privacy_values.ts";
import type { QuotaStore } from "./quota_store.ts";
import type { StoreName } from "./settings.ts";
import type { UsageStore } from "./usage/usage_store.ts";
import type { StateInfo } from "./state_info.ts";

/**
 * State that may outlive the process. Every operation of `objects` fails with `state_unavailable`
 * while the store cannot be reached, and with `state_unreadable` for a record that cannot be read.
 */
export interface StateStore {
  readonly name: StoreName;
  readonly objects: ObjectStore;
  readonly cachedResponses: CachedResponses;
  /** Null for a store that does not encrypt. */
  readonly privacyValues: PrivacyValues | null;
  readonly quotas: QuotaStore;
  /** Usage of client keys by day. */
  readonly usage: UsageStore;
  /** Asks the store for a sign of life; a small write is refused by a store that is full. */
  ping(doesWrite?: boolean): Stored<void>;
  /** Returns the number, size and age of the stored records. */
  stats(): Stored<StateInfo>;
  /** Removes all state of this store, in bounded batches. Returns the number of removed records. */
  purge(): Stored<number>;
  /** Completes the operations in progress, then releases all resources. */
  close(): Promise<void>;
}

/** Result of opening a store; `problem` is one sentence that names what is wrong and where. */
export type OpenedStore =
  | { readonly ok: true; readonly store: StateStore }
  | { readonly ok: false; readonly problem: string };
