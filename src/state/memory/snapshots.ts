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
  /**
   * Measures a response, which is then added or abandoned. Null if it is larger than all responses may
   * be together.
   */
  prepare(id: string, snapshot: Snapshot): PreparedSnapshot | null;
  /** Stores a response as the youngest one; the oldest are removed until it fits. */
  add(prepared: PreparedSnapshot): void;
  abandon(prepared: PreparedSnapshot): void;
  delete(id: string): void;
  stats(): StoreStats;
}

/** A response whose items are held, so that they are measured once. */
export interface PreparedSnapshot extends StoredSnapshot {
  /** Size without the items. */
  readonly bytes: number;
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
  const store = new BoundedStore<PreparedSnapshot>(limits, now, (_id, entry) => release(entry));

  function release({ snapshot }: PreparedSnapshot): void {
    shared.release(itemsOf(snapshot));
  }

  function remove(id: string): void {
    const entry = store.get(id);
    if (entry !== undefined && store.delete(id)) release(entry);
  }

  return {
    get: (id) => store.get(id)?.snapshot ?? null,
    values: () => store.values(),
    prepare(id, snapshot) {
      const items = itemsOf(snapshot);
      const bytes = bytesBesideItems(id, snapshot);
      shared.hold(items);
      const fits = bytes + shared.bytes <= maxBytes || bytes + shared.bytesOf(items) <= maxBytes;
      if (!fits) shared.release(items);
      return fits ? { id, snapshot, bytes } : null;
    },
    add(prepared) {
      remove(prepared.id);
      if (!store.set(prepared.id, prepared, prepared.bytes)) release(prepared);
      store.dropOldestWhile((bytes) => bytes + shared.bytes > maxBytes);
    },
    abandon: release,
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
