import { isObject, type JsonObject } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import { type Result, success } from "../../core/result.ts";
import { BoundedStore } from "../bounded_store.ts";
import { keyText } from "../key_text.ts";
import { decodeEach } from "../records/decode_each.ts";
import type { RecordKind } from "../records/record_codec.ts";
import type { NamedPart, Part } from "../records/record_store.ts";
import { recordUnreadable } from "../store_failure.ts";
import type { ContentCodec, SizedKey } from "./content_codec.ts";

/** Items that are stored as one part. */
export interface Pack extends SizedKey {
  readonly items: readonly JsonObject[];
  /** True if the store probably has the part. */
  isStored: boolean;
}

/** Turns the items of records of one type into parts, and parts into items. */
export interface Items<Body> {
  /** Divides items into packs. A history that was read from the store is divided as it is stored. */
  pack(items: readonly JsonObject[]): readonly Pack[];
  /** Returns the parts of packs. Those that are probably stored, and not in `missing`, have no body. */
  encode(packs: readonly Pack[], missing: ReadonlySet<string>): Promise<readonly Part<Body>[]>;
  /** Returns the items of parts; null if the store has lost a part. */
  decode(parts: readonly Part<Body>[]): Promise<Result<readonly JsonObject[] | null>>;
  /** Returns the items of the parts that were found by names, for each key. */
  decodeNamed(
    found: readonly NamedPart<Body>[],
  ): Promise<Result<ReadonlyMap<string, readonly JsonObject[]>>>;
}

interface PresentPart<Body> {
  readonly key: string;
  readonly bytes: number;
  readonly body: Body;
}

/** What a store has of a part besides its content: keys, names, and the records that have it. */
const PART_OVERHEAD_BYTES = 256;

/**
 * A part has at most this share of the bytes of the items before it, so that a dialogue, in which each turn has
 * parts of its own at the end, shares nearly all of its history with its earlier turns.
 */
const PACK_SHARE = 1 / 16;

const MAX_REMEMBERED_PACKS = 10_000;

/** Returns the items of the records of one type. */
export function newItems<Body>(content: ContentCodec<Body>, kind: RecordKind): Items<Body> {
  const sizes = new WeakMap<JsonObject, SizedKey>();
  // By their first item. Items are immutable: those of a history are the objects that were read.
  const known = new WeakMap<JsonObject, Pack>();
  const limits = {
    ttl: Infinity,
    entries: MAX_REMEMBERED_PACKS,
    bytes: content.maxRememberedBytes,
  };
  const recent = new BoundedStore<Pack>(limits, () => 0);

  function sizeOf(item: JsonObject): SizedKey {
    const size = sizes.get(item) ?? content.identify(item);
    sizes.set(item, size);
    return size;
  }

  function remember(pack: Pack): Pack {
    const [first] = pack.items;
    if (first !== undefined) known.set(first, pack);
    return pack;
  }

  /** Returns the known pack with the items from an index on; null if it is to be made anew. */
  function knownAt(items: readonly JsonObject[], from: number, maxBytes: number): Pack | null {
    const first = items[from];
    const pack = first === undefined ? undefined : known.get(first);
    if (pack === undefined || !pack.items.every((item, at) => items[from + at] === item)) {
      return null;
    }
    const isLast = from + pack.items.length === items.length;
    return isLast || pack.bytes >= maxBytes / 2 ? pack : null;
  }

  function newPack(items: readonly JsonObject[], from: number, maxBytes: number): Pack {
    const packed: JsonObject[] = [];
    const keys: string[] = [];
    let bytes = PART_OVERHEAD_BYTES;
    for (let at = from; at < items.length; at++) {
      const item = items[at];
      if (item === undefined) break;
      const size = sizeOf(item);
      if (packed.length > 0 && bytes + size.bytes > maxBytes) break;
      packed.push(item);
      keys.push(size.key);
      bytes += size.bytes;
    }
    const [only = ""] = keys;
    const key = keys.length === 1 ? only : content.identify(keys).key;
    return remember({ items: packed, key, bytes, isStored: false });
  }

  async function decodeItems(key: string, body: Body): Promise<Result<readonly JsonObject[]>> {
    const value = await content.decode(kind, key, body);
    if (!value.ok) return value;
    const items = value.value;
    return Array.isArray(items) && items.every(isObject) ? success(items) : recordUnreadable();
  }

  async function decodePart({ key, bytes, body }: PresentPart<Body>): Promise<Result<Pack>> {
    const before = recent.get(key);
    if (before !== undefined) return success(before);
    const items = await decodeItems(key, body);
    if (!items.ok) return items;
    const [first, second] = items.value;
    // A part with one item has the key of the item.
    if (first !== undefined && second === undefined) {
      sizes.set(first, { key, bytes: bytes - PART_OVERHEAD_BYTES });
    }
    const pack = remember({ items: items.value, key, bytes, isStored: true });
    recent.set(key, pack, bytes);
    return success(pack);
  }

  return {
    pack(items) {
      const packs: Pack[] = [];
      let before = 0;
      for (let from = 0; from < items.length;) {
        const maxBytes = Math.min(content.maxPackBytes, before * PACK_SHARE);
        const pack = knownAt(items, from, maxBytes) ?? newPack(items, from, maxBytes);
        packs.push(pack);
        from += pack.items.length;
        before += pack.bytes;
      }
      return packs;
    },
    async encode(packs, missing) {
      const bodies = new Map<string, Promise<Body>>();
      return await Promise.all(packs.map(async ({ items, key, bytes, isStored }) => {
        const names = new Set(
          items.flatMap(({ id }) => typeof id === "string" ? [keyText(id)] : []),
        );
        const part = { key, names: [...names], bytes };
        if (isStored && !missing.has(key)) return { ...part, body: null };
        const body = bodies.get(key) ?? content.encode(kind, key, [...items]);
        bodies.set(key, body);
        return { ...part, body: await body };
      }));
    },
    async decode(parts) {
      const present = parts.flatMap(({ key, bytes, body }) =>
        body === null ? [] : [{ key, bytes, body }]
      );
      if (present.length < parts.length) return success(null);
      const packs = await decodeEach(present, ({ body }) => content.sizeOf(body), decodePart);
      if (!packs.ok) return packs;
      const items: JsonObject[] = [];
      for (const pack of packs.value) pushAll(items, pack.items);
      return success(items);
    },
    async decodeNamed(found) {
      const bodies = [...new Map(found.map(({ key, body }) => [key, body]))];
      const lists = await decodeEach(
        bodies,
        ([_key, body]) => content.sizeOf(body),
        async ([key, body]): Promise<Result<readonly JsonObject[]>> => {
          const before = recent.get(key);
          return before === undefined ? await decodeItems(key, body) : success(before.items);
        },
      );
      if (!lists.ok) return lists;
      return success(new Map(bodies.map(([key], at) => [key, lists.value[at] ?? []])));
    },
  };
}

/** Marks packs as stored after the commit of a record that has them. */
export function markStored(packs: readonly Pack[]): void {
  for (const pack of packs) pack.isStored = true;
}

/** Returns the bytes of packs, each counted once. */
export function packBytes(packs: readonly Pack[]): number {
  const sizes = new Map(packs.map(({ key, bytes }) => [key, bytes]));
  return sizes.values().reduce((sum, bytes) => sum + bytes, 0);
}
