import { isObject, type JsonObject } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { BoundedStore } from "../bounded_store.ts";
import { keyText } from "../key_text.ts";
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
  /**
   * Divides items into packs. A history that was read from the store is divided as it is stored.
   */
  pack(items: readonly JsonObject[]): readonly Pack[];
  /**
   * Returns the parts of packs. Those that are probably stored, and not in `missing`, have no body.
   */
  encode(packs: readonly Pack[], missing: ReadonlySet<string>): Promise<readonly Part<Body>[]>;
  /** Remembers that packs are stored, after the commit of the record with this ID. */
  markStored(id: string, packs: readonly Pack[]): void;
  /**
   * Returns the remembered packs of a record by their keys: parts that need not be read again.
   */
  rememberedIn(id: string): ReadonlyMap<string, Pack>;
  /**
   * Returns the items of parts; null if the store has lost a part. `remembered` has the packs of
   * parts that were not read.
   */
  decode(
    parts: readonly Part<Body>[],
    remembered: ReadonlyMap<string, Pack>,
  ): Promise<Result<readonly JsonObject[] | null>>;
  /** Returns the items of the parts that were found by names, for each key. */
  decodeNamed(
    found: readonly NamedPart<Body>[],
  ): Promise<Result<ReadonlyMap<string, readonly JsonObject[]>>>;
}

interface PresentPart<Body> {
  readonly key: string;
  readonly bytes: number;
  /** Null for a pack that was remembered before the read. */
  readonly body: Body | null;
  readonly remembered: Pack | undefined;
}

/** What a store has of a part besides its content: keys, names, and the records that have it. */
const PART_OVERHEAD_BYTES = 256;

/**
 * Maximum number of packs below half of the maximum in a row. A turn of a dialogue adds a pack;
 * more of them become one pack, so that a long dialogue has few parts and shares nearly all of them
 * with its earlier turns.
 */
const MAX_SMALL_PACKS = 24;

const MAX_REMEMBERED_PACKS = 10_000;

/** Maximum bytes of the IDs of records whose packs are remembered, and of the keys of these. */
const MAX_REMEMBERED_KEYS_BYTES = 1024 * 1024;

/** Returns the items of the records of one type. */
export function newItems<Body>(content: ContentCodec<Body>, kind: RecordKind): Items<Body> {
  const { maxPackBytes } = content;
  const sizes = new WeakMap<JsonObject, SizedKey>();
  // By their first item. Items are immutable: those of a history are the objects that were read.
  const known = new WeakMap<JsonObject, Pack>();
  const limits = {
    ttl: Infinity,
    entries: MAX_REMEMBERED_PACKS,
    bytes: content.maxRememberedBytes,
  };
  const recent = new BoundedStore<Pack>(limits, () => 0);
  const keysOf = new BoundedStore<readonly string[]>(
    { ...limits, bytes: Math.min(MAX_REMEMBERED_KEYS_BYTES, limits.bytes) },
    () => 0,
  );

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

  /** Returns the known pack with the items from an index on; null if there is none. */
  function knownAt(items: readonly JsonObject[], from: number): Pack | null {
    const first = items[from];
    const pack = first === undefined ? undefined : known.get(first);
    return pack?.items.every((item, at) => items[from + at] === item) ? pack : null;
  }

  /** Divides items into packs. `isNew` is true for items at which no known pack begins. */
  function newPacks(
    items: readonly JsonObject[],
    isNew: (at: number) => boolean = () => true,
  ): readonly Pack[] {
    const packs: Pack[] = [];
    let packed: JsonObject[] = [];
    let keys: string[] = [];
    let bytes = PART_OVERHEAD_BYTES;

    function end() {
      const [only] = keys;
      if (only === undefined) return;
      const key = keys.length === 1 ? only : content.identify(keys).key;
      packs.push(remember({ items: packed, key, bytes, isStored: false }));
      [packed, keys, bytes] = [[], [], PART_OVERHEAD_BYTES];
    }

    for (const [at, item] of items.entries()) {
      if (!isNew(at)) break;
      const size = sizeOf(item);
      if (bytes + size.bytes > maxPackBytes) end();
      packed.push(item);
      keys.push(size.key);
      bytes += size.bytes;
    }
    end();
    return packs;
  }

  /** Makes one pack of the small ones at the end if there are too many. */
  function withoutManySmall(packs: readonly Pack[]): readonly Pack[] {
    const from = packs.findLastIndex(({ bytes }) => bytes >= maxPackBytes / 2) + 1;
    if (packs.length - from <= MAX_SMALL_PACKS) return packs;
    const small = packs.slice(from).flatMap(({ items }) => items);
    return [...packs.slice(0, from), ...newPacks(small)];
  }

  async function decodeItems(key: string, body: Body): Promise<Result<readonly JsonObject[]>> {
    const value = await content.decode(kind, key, body);
    if (!value.ok) return value;
    const items = value.value;
    return Array.isArray(items) && items.every(isObject) ? success(items) : recordUnreadable();
  }

  async function decodePart(
    { key, bytes, body, remembered }: PresentPart<Body>,
  ): Promise<Result<Pack>> {
    const before = remembered ?? recent.get(key);
    if (before !== undefined) return success(before);
    if (body === null) return recordUnreadable();
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
      for (let from = 0; from < items.length;) {
        const pack = knownAt(items, from);
        const rest = from === 0 ? items : items.slice(from);
        const more = pack === null ? newPacks(rest, (at) => knownAt(rest, at) === null) : [pack];
        for (const one of more) from += one.items.length;
        pushAll(packs, more);
      }
      return withoutManySmall(packs);
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
    rememberedIn(id) {
      const packs = new Map<string, Pack>();
      for (const key of keysOf.get(id) ?? []) {
        const pack = recent.get(key);
        if (pack !== undefined) packs.set(key, pack);
      }
      return packs;
    },
    markStored(id, packs) {
      const keys = packs.map(({ key }) => key);
      keysOf.set(id, keys, keys.reduce((bytes, key) => bytes + 2 * key.length, 2 * id.length));
      for (const pack of packs) {
        if (!pack.isStored) recent.set(pack.key, pack, pack.bytes);
        pack.isStored = true;
      }
    },
    async decode(parts, remembered) {
      const present = parts.map((part) => ({ ...part, remembered: remembered.get(part.key) }));
      const isLost = present.some(({ body, bytes, remembered }) =>
        body === null && (remembered === undefined || bytes === 0)
      );
      if (isLost) return success(null);
      const packs = await content.decodeEach(
        present,
        ({ body }) => body === null ? 0 : content.sizeOf(body),
        decodePart,
      );
      if (!packs.ok) return packs;
      const items: JsonObject[] = [];
      for (const pack of packs.value) pushAll(items, pack.items);
      return success(items);
    },
    async decodeNamed(found) {
      const bodies = [...new Map(found.map(({ key, body }) => [key, body]))];
      const lists = await content.decodeEach(
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

/** Returns the bytes of packs, each counted once. */
export function packBytes(packs: readonly Pack[]): number {
  const counted = new Set<string>();
  let sum = 0;
  for (const { key, bytes } of packs) {
    if (counted.has(key)) continue;
    counted.add(key);
    sum += bytes;
  }
  return sum;
}
