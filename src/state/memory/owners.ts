import { success } from "../../core/result.ts";
import {
  type Binding,
  type Caller,
  creatorOf,
  isVisibleTo,
  mergeBinding,
  type Owner,
} from "../bindings.ts";
import { BoundedStore } from "../bounded_store.ts";
import type { OwnerStore, StoreStats } from "../object_store.ts";
import { bindingBounds, jsonBytes, type Retention } from "../retention.ts";

/** Bindings of one type in memory. */
export interface MemoryBindings {
  get(id: string): Binding | null;
  bind(id: string, owner: Owner): Binding;
  unbind(id: string, account: string, caller: Caller): boolean;
  /** Removes the bindings that have expired. */
  dropExpired(): void;
  stats(): StoreStats;
}

/**
 * Returns a store without bindings. `now` returns milliseconds that never go back. `onLost` is
 * called with each ID that has no owner any more although no client has deleted it.
 */
export function newMemoryBindings(
  now: () => number,
  retention: Retention,
  onLost: (id: string) => void = () => {},
): MemoryBindings {
  const limits = { ttl: retention.ttlMs, ...bindingBounds(retention) };
  const store = new BoundedStore<Binding>(limits, now, onLost);

  function set(id: string, binding: Binding): Binding {
    const isKept = store.set(id, binding, jsonBytes(id) + jsonBytes(binding));
    if (!isKept || binding.kind === "conflict") onLost(id);
    return binding;
  }

  return {
    get: (id) => store.get(id) ?? null,
    bind(id, owner) {
      const earlier = store.get(id);
      if (earlier === undefined) return set(id, { kind: "bound", owner });
      const next = mergeBinding(earlier, owner);
      return next === null ? earlier : set(id, next);
    },
    unbind(id, account, caller) {
      const binding = store.get(id);
      return binding?.kind === "bound" && binding.owner.account === account &&
        isVisibleTo(caller, creatorOf(binding)) && store.delete(id);
    },
    dropExpired: () => store.dropExpired(),
    stats: () => ({ entries: store.entries, bytes: store.bytes }),
  };
}

/** Returns the interface of a store of owners over bindings in memory. */
export function newMemoryOwners(bindings: MemoryBindings): OwnerStore {
  return {
    findBinding: (id) => Promise.resolve(success(bindings.get(id))),
    findBindings(ids) {
      const found = new Map<string, Binding>();
      for (const id of ids) {
        const binding = bindings.get(id);
        if (binding !== null) found.set(id, binding);
      }
      return Promise.resolve(success(found));
    },
    bind: (id, owner) => Promise.resolve(success(bindings.bind(id, owner))),
    unbind: (id, account, caller) => Promise.resolve(success(bindings.unbind(id, account, caller))),
  };
}
