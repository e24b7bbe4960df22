import type { JsonObject } from "../../core/json/json.ts";
import type { RecordCodec } from "../records/record_codec.ts";
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
  /** Remembers the digest of an item for as long as the item is in use. */
  remember(item: JsonObject, digest: ItemDigest): void;
}

/** Returns a store of digests without items. */
export function newItemDigests(codec: Pick<RecordCodec, "digest">): ItemDigests {
  // The history of a dialogue comes out of the store and goes into it again with each turn.
  const digests = new WeakMap<JsonObject, ItemDigest>();
  return {
    known: (item) => digests.get(item) ?? null,
    compute: (item) => ({ digest: codec.digest(JSON.stringify(item)), bytes: heldBytes(item) }),
    remember: (item, digest) => void digests.set(item, digest),
  };
}
