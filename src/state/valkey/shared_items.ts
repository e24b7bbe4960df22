import { parseObject } from "../records/json_records.ts";
import { Buffer } from "node:buffer";
import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import type { RecordCodec } from "../records/record_codec.ts";
import { BoundedStore } from "../bounded_store.ts";
import { itemName } from "./item_name.ts";
import type { Argument } from "./connection.ts";

/** An item of stored responses, which is stored once under its digest. */
export interface SharedItem {
  readonly digest: string;
  /** Bytes that count for the item, once for all responses. */
  readonly bytes: number;
}

/**
 * Items of responses as this process knows them. The items of a history that was read from the store
 * are neither digested nor sent again.
 */
export interface SharedItems {
  /** Returns the items, each with its digest. */
  digest(items: readonly JsonObject[]): readonly SharedItem[];
  /**
   * Returns the arguments of a script for each item that occurs: digest, bytes, name and record. The
   * record is empty if the server probably has it and it is not in `missing`.
   */
  encode(items: readonly JsonObject[], missing: ReadonlySet<string>): Promise<readonly Argument[]>;
  /** Remembers that the server has the items. */
  markStored(items: readonly JsonObject[]): void;
  /** Returns the item in a record. */
  decode(digest: string, record: Uint8Array): Promise<Result<JsonObject>>;
}

/** What the server stores for an item besides its record: keys, digests, ages. */
const ITEM_OVERHEAD_BYTES = 256;

interface KnownItem extends SharedItem {
  isStored: boolean;
}

/** Maximum bytes and number of the items that a process remembers; the oldest are removed first. */
const MAX_REMEMBERED_BYTES = 8 * 1024 * 1024;
const MAX_REMEMBERED_ITEMS = 10_000;

/** Returns the items of a store without any known ones. `ttlMs` is the lifetime of a response. */
export function newSharedItems(codec: RecordCodec, ttlMs: number): SharedItems {
  const known = new WeakMap<JsonObject, KnownItem>();
  const limits = { ttl: ttlMs, entries: MAX_REMEMBERED_ITEMS, bytes: MAX_REMEMBERED_BYTES };
  const recent = new BoundedStore<JsonObject>(limits, () => performance.now());

  function remember(item: JsonObject, digest: string, text: string): KnownItem {
    const bytes = Buffer.byteLength(text) + ITEM_OVERHEAD_BYTES;
    const entry = { digest, bytes, isStored: false };
    known.set(item, entry);
    return entry;
  }

  function knownOf(item: JsonObject): KnownItem {
    const before = known.get(item);
    if (before !== undefined) return before;
    const text = JSON.stringify(item);
    return remember(item, codec.digest(text), text);
  }

  return {
    digest: (items) => items.map(knownOf),
    async encode(items, missing) {
      const occurring = new Map(items.map((item) => [knownOf(item).digest, item]));
      const groups = await Promise.all([...occurring].map(async ([digest, item]) => {
        const { bytes, isStored } = knownOf(item);
        const isLeftOut = isStored && !missing.has(digest);
        const record = isLeftOut ? "" : await codec.encode("item", digest, JSON.stringify(item));
        return [digest, bytes, itemName(item), record];
      }));
      return groups.flat();
    },
    markStored(items) {
      for (const item of items) {
        const entry = knownOf(item);
        if (!entry.isStored) recent.set(entry.digest, item, entry.bytes);
        entry.isStored = true;
      }
    },
    async decode(digest, record) {
      const before = recent.get(digest);
      if (before !== undefined) return success(before);
      const text = await codec.decode("item", digest, record);
      if (!text.ok) return text;
      const item = parseObject(text.value);
      if (!item.ok) return item;
      const entry = remember(item.value, digest, text.value);
      entry.isStored = true;
      recent.set(digest, item.value, entry.bytes);
      return success(item.value);
    },
  };
}
