import type { JsonObject } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import { success } from "../../core/result.ts";
import { type Binding, creatorOf, isVisibleTo, withoutSnapshot } from "../bindings.ts";
import { BoundedStore } from "../bounded_store.ts";
import type { ResponseItem, ResponseStore, StoreStats } from "../object_store.ts";
import { heldBytes, type Retention } from "../retention.ts";
import { outputOf, type Snapshot } from "../snapshots.ts";
import { newMemoryBindings, newMemoryOwners } from "./owners.ts";

/** Responses in memory, with the sizes of both parts. */
export interface MemoryResponses {
  readonly responses: ResponseStore;
  snapshotStats(): StoreStats;
  bindingStats(): StoreStats;
}

interface Entry {
  readonly id: string;
  readonly snapshot: Snapshot;
}

/** Returns a store without responses. `now` returns milliseconds that never go back. */
export function newMemoryResponses(now: () => number, retention: Retention): MemoryResponses {
  const { ttlMs, maxObjects, maxBytes } = retention;
  const limits = { ttl: ttlMs, entries: maxObjects, bytes: maxBytes };
  const snapshots = new BoundedStore<Entry>(limits, now);
  // A response without an owner is visible to no client, so it is removed.
  const bindings = newMemoryBindings(now, retention, (id) => void snapshots.delete(id));
  const owners = newMemoryOwners(bindings);

  const responses: ResponseStore = {
    ...owners,
    unbind(id, account, caller) {
      const isUnbound = bindings.unbind(id, account, caller);
      if (isUnbound) snapshots.delete(id);
      return Promise.resolve(success(isUnbound));
    },
    find(id) {
      const binding = bindings.get(id);
      const snapshot = snapshots.get(id)?.snapshot ?? null;
      return Promise.resolve(success(binding === null ? null : { binding, snapshot }));
    },
    store(id, { owner, snapshot, isNative }, caller) {
      // Read first: an expired binding removes the response stored under its ID.
      const earlier = bindings.get(id);
      const mayStore = earlier === null ||
        (earlier.kind === "bound" && isVisibleTo(caller, creatorOf(earlier)));
      const isStored = mayStore &&
        snapshots.set(id, { id, snapshot }, heldBytes(id) + bytesOf(snapshot));
      if (!isStored && !isNative) return Promise.resolve(success(null));
      const binding = bindings.bind(id, isStored ? owner : withoutSnapshot(owner));
      return Promise.resolve(success(binding));
    },
    findItems(ids) {
      const found: ResponseItem[] = [];
      for (const { id, snapshot } of snapshots.values()) {
        const binding = bindings.get(id);
        if (binding !== null) pushAll(found, itemsOf(snapshot, binding, ids));
      }
      return Promise.resolve(success(found));
    },
  };
  return {
    responses,
    snapshotStats: () => ({ entries: snapshots.entries, bytes: snapshots.bytes }),
    bindingStats: () => bindings.stats(),
  };
}

/** Returns the items with these IDs. Of two items with the same ID the later item is used. */
function itemsOf(
  snapshot: Snapshot,
  binding: Binding,
  ids: ReadonlySet<string>,
): readonly ResponseItem[] {
  const found = new Map<string, JsonObject>();
  for (const item of [...snapshot.input, ...outputOf(snapshot)]) {
    if (typeof item.id === "string" && ids.has(item.id)) found.set(item.id, item);
  }
  return [...found].map(([id, item]) => ({ id, item, binding }));
}

function bytesOf({ resource, input }: Snapshot): number {
  return heldBytes(resource) + input.reduce((bytes, item) => bytes + heldBytes(item), 0);
}
