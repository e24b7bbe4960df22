import type { JsonObject } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import { success } from "../../core/result.ts";
import { newUseCount, usesPerItem } from "../item_uses.ts";
import { type Binding, creatorOf, isVisibleTo, withoutSnapshot } from "../bindings.ts";
import type { ResponseItem, ResponseStore, StoreStats } from "../object_store.ts";
import type { Retention } from "../retention.ts";
import { outputOf, type Snapshot } from "../snapshots.ts";
import { newMemoryBindings, newMemoryOwners } from "./owners.ts";
import { newMemorySnapshots } from "./snapshots.ts";

/** Responses in memory, with the sizes of both parts. */
export interface MemoryResponses {
  readonly responses: ResponseStore;
  snapshotStats(): StoreStats;
  bindingStats(): StoreStats;
}

/** Returns a store without responses. `now` returns milliseconds that never go back. */
export function newMemoryResponses(now: () => number, retention: Retention): MemoryResponses {
  const snapshots = newMemorySnapshots(now, retention);
  // A response without an owner is visible to no client, so it is removed.
  const bindings = newMemoryBindings(now, retention, (id) => snapshots.delete(id));
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
      const snapshot = snapshots.get(id);
      return Promise.resolve(success(binding === null ? null : { binding, snapshot }));
    },
    store(id, { owner, snapshot, isNative }, caller) {
      // Read first: an expired binding removes the response stored under its ID.
      const earlier = bindings.get(id);
      const mayStore = earlier === null ||
        (earlier.kind === "bound" && isVisibleTo(caller, creatorOf(earlier)));
      const prepared = mayStore ? snapshots.prepare(id, snapshot) : null;
      if (prepared === null && !isNative) return Promise.resolve(success(null));
      // Bound first: an owner that makes room for it takes the response stored under its ID along.
      const binding = bindings.bind(id, prepared === null ? withoutSnapshot(owner) : owner);
      if (prepared !== null) {
        if (bindings.get(id)?.kind === "bound") snapshots.add(prepared);
        else snapshots.abandon(prepared);
      }
      return Promise.resolve(success(binding));
    },
    findItems(ids) {
      const found: ResponseItem[] = [];
      const isExamined = newUseCount(usesPerItem(ids.size));
      for (const { id, snapshot } of snapshots.values().toReversed()) {
        const binding = bindings.get(id);
        if (binding === null) continue;
        const items = itemsOf(snapshot, binding, ids).filter(({ id }) => isExamined(id));
        pushAll(found, items.toReversed());
      }
      return Promise.resolve(success(found.toReversed()));
    },
  };
  return {
    responses,
    snapshotStats() {
      bindings.dropExpired();
      return snapshots.stats();
    },
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
