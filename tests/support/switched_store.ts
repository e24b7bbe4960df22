import { success } from "../../src/core/failure/result.ts";
import type { StateOperation } from "../../src/data/state_operation.ts";
import { interceptedObjects } from "../../src/store/intercepted_objects.ts";
import { newMemoryObjectStore } from "../../src/store/memory/object_store.ts";
import type { Stored } from "../../src/store/object_store.ts";
import type { StateStore } from "../../src/store/state_store.ts";
import { recordUnreadable, storeUnavailable } from "../../src/store/store_failure.ts";

/** How a store is unavailable: it refuses operations, or it makes them and its replies are lost. */
export type Outage = "refusing" | "deaf";

/** A store outside the process that a test switches off and on. */
export interface SwitchedStore extends StateStore {
  /** The operations that have begun, in order, without pings. */
  readonly operations: readonly StateOperation[];
  readonly pings: number;
  readonly isClosed: boolean;
  /** Is unavailable from now on. */
  leave(outage?: Outage): void;
  /** Is unavailable from the moment at which this operation begins. */
  leaveAt(operation: StateOperation, outage?: Outage): void;
  comeBack(): void;
  /** Cannot read its records from now on. */
  garble(): void;
  /** Operations that begin from now on return only after the release. */
  hold(): { readonly begun: Promise<void>; release(): void };
}

/** A store with the objects of a memory store. `now` returns its time in milliseconds. */
export function newSwitchedStore(now: () => number): SwitchedStore {
  const operations: StateOperation[] = [];
  let pings = 0;
  let isClosed = false;
  let away: Outage | null = null;
  let trigger: { readonly operation: StateOperation; readonly outage: Outage } | null = null;
  let isGarbled = false;
  let begin = () => {};
  let released = Promise.resolve();

  async function run<T>(operation: StateOperation, start: () => Stored<T>): Stored<T> {
    operations.push(operation);
    if (trigger?.operation === operation) away = trigger.outage;
    begin();
    await released;
    if (away === "refusing") return storeUnavailable();
    const result = await start();
    if (away === "deaf") return storeUnavailable();
    return isGarbled && operation.endsWith("_find") ? recordUnreadable() : result;
  }

  return {
    name: "valkey",
    objects: interceptedObjects(newMemoryObjectStore(now), run),
    usage: {
      add: () => Promise.resolve(away === null ? success(undefined) : storeUnavailable()),
      read: () => Promise.resolve(success([])),
    },
    cachedResponses: { get: () => null, set() {} },
    privacyValues: null,
    quotas: {
      admit: (scopes) => ({
        kind: "admitted",
        rests: scopes.map(() => ({ requests: null, tokens: null, spent: [] })),
      }),
      settle() {},
      renew() {},
      spent: () => Promise.resolve(success(new Map())),
    },
    stats: () =>
      Promise.resolve(success({ version: "test", types: [], oldestMs: null, newestMs: null })),
    purge: () => Promise.resolve(success(0)),
    async ping() {
      pings += 1;
      await released;
      return away === null ? success(undefined) : storeUnavailable();
    },
    close() {
      isClosed = true;
      return Promise.resolve();
    },
    operations,
    get pings() {
      return pings;
    },
    get isClosed() {
      return isClosed;
    },
    leave(outage = "refusing") {
      away = outage;
    },
    leaveAt(operation, outage = "refusing") {
      trigger = { operation, outage };
    },
    comeBack() {
      away = trigger = null;
    },
    garble() {
      isGarbled = true;
    },
    hold() {
      const begun = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      begin = () => begun.resolve();
      released = held.promise;
      return {
        begun: begun.promise,
        release() {
          begin = () => {};
          released = Promise.resolve();
          held.resolve();
        },
      };
    },
  };
}
