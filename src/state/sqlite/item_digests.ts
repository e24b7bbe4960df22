import type { JsonObject } from "../../core/json/json.ts";
import type { RecordCodec } from "../records/record_codec.ts";
import { BoundedStore } from "../bounded_store.ts";
import { heldBytes } from "../retention.ts";

/** What identifies an item among the stored ones. */
export interface ItemDigest {
  /** Digest of its JSON text. */
  readonly digest: string;
  /** Size that counts against the bounds. */
  readonly bytes: number;
}

/** Digests of items that were stored or read before. Items are immutable. */
export interface ItemDigests {
  /** Returns the digest of an item; null if the item is not known. */
  known(item: JsonObject): ItemDigest | null;
  /** Computes the digest of an item. */
  compute(item: JsonObject): ItemDigest;
  /** Returns an item that was stored or read before; null if it is not in memory any more. */
  find(digest: string): JsonObject | null;
  /** Remembers the digest of an item for as long as the item is in use, and the item for a while. */
  remember(item: JsonObject, digest: ItemDigest): void;
}

/** Maximum bytes and number of the items in memory; the oldest are removed first. */
const MAX_ITEMS_BYTES = 8 * 1024 * 1024;
const MAX_REMEMBERED_ITEMS = 10_000;

/** Returns a store of digests without items. */
export function newItemDigests(codec: Pick<RecordCodec, "digest">): ItemDigests {
  // The history of a dialogue comes out of the store and goes into it again with each turn.
  const digests = new WeakMap<JsonObject, ItemDigest>();
  const limits = { ttl: Infinity, entries: MAX_REMEMBERED_ITEMS, bytes: MAX_ITEMS_BYTES };
  const items = new BoundedStore<JsonObject>(limits, () => 0);
  return {
    known: (item) => digests.get(item) ?? null,
    compute: (item) => ({ digest: codec.digest(JSON.stringify(item)), bytes: heldBytes(item) }),
    find: (digest) => items.get(digest) ?? null,
    remember(item, digest) {
      digests.set(item, digest);
      items.set(digest.digest, item, digest.bytes);
    },
  };
}
