import { isObject, type JsonObject } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import { BoundedStore } from "../bounded_store.ts";
import type { StoreStats } from "../object_store.ts";
import { heldBytes, type Retention } from "../retention.ts";
import { outputOf, type Snapshot } from "../snapshots.ts";
import { newSharedItems } from "./shared_items.ts";

/** A stored response with its ID. */
export interface StoredSnapshot {
  readonly id: string;
  readonly snapshot: Snapshot;
}

/** Responses in memory, without their owners. */
export interface MemorySnapshots {
  get(id: string): Snapshot | null;
  /** Returns all responses, oldest first. */
  values(): readonly StoredSnapshot[];
  /** True if a response is not larger than all responses may be together. */
  canFit(id: string, snapshot: Snapshot): boolean;
  /** Stores a response that can fit as the youngest one; the oldest are removed until it fits. */
  set(id: string, snapshot: Snapshot): void;
  delete(id: string): void;
  stats(): StoreStats;
}

interface Entry extends StoredSnapshot {
  readonly items: readonly JsonObject[];
}

/** Size of a reference to an item in a list, with the unused part of the list. */
const REFERENCE_BYTES = 16;

/**
 * Returns a store without responses. Their items are shared: the bytes of an item object count once,
 * however many responses have it. `now` returns milliseconds that never go back.
 */
export function newMemorySnapshots(
  now: () => number,
  { ttlMs, maxObjects, maxBytes }: Retention,
): MemorySnapshots {
  const limits = { ttl: ttlMs, entries: maxObjects, bytes: maxBytes };
  const shared = newSharedItems();
  const store = new BoundedStore<Entry>(limits, now, (_id, { items }) => shared.release(items));

  function remove(id: string): void {
    const entry = store.get(id);
    if (entry !== undefined && store.delete(id)) shared.release(entry.items);
  }

  return {
    get: (id) => store.get(id)?.snapshot ?? null,
    values: () => store.values(),
    canFit(id, snapshot) {
      const items = itemsOf(snapshot);
      return bytesBesideItems(id, snapshot) + shared.bytesOf(items) <= maxBytes;
    },
    set(id, snapshot) {
      const items = itemsOf(snapshot);
      remove(id);
      shared.hold(items);
      if (!store.set(id, { id, snapshot, items }, bytesBesideItems(id, snapshot))) {
        return shared.release(items);
      }
      store.dropOldestWhile((bytes) => bytes + shared.bytes > maxBytes);
    },
    delete: remove,
    stats() {
      store.dropExpired();
      return { entries: store.entries, bytes: store.bytes + shared.bytes };
    },
  };
}

function itemsOf(snapshot: Snapshot): readonly JsonObject[] {
  const items = [...snapshot.input];
  pushAll(items, outputOf(snapshot));
  return items;
}

/** Returns the size of a response with references to its items, without the items. */
function bytesBesideItems(id: string, { resource, input }: Snapshot): number {
  const { output } = resource;
  if (!Array.isArray(output)) return heldBytes(id) + heldBytes(resource) + listBytes(input);
  const rest = { ...resource, output: output.filter((item) => !isObject(item)) };
  return heldBytes(id) + heldBytes(rest) + listBytes(output) + listBytes(input);
}

function listBytes(items: readonly unknown[]): number {
  return items.length * REFERENCE_BYTES;
}
