import { isObject, type JsonObject } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { type LoopTurns, turnAmong } from "../../traffic/loop_turns.ts";
import { BoundedStore } from "../bounded_store.ts";
import { keyText } from "../key_text.ts";
import type { RecordKind } from "../records/record_codec.ts";
import type { NamedPart, Part } from "../records/record_store.ts";
import { heldBytes } from "../retention.ts";
import { recordUnreadable } from "../store_failure.ts";
import type { ContentCodec, SizedKey } from "./content_codec.ts";

/** Items that are stored as one part. */
export interface Pack extends SizedKey {
  readonly items: readonly JsonObject[];
  /** Names by which the part is found: the IDs of its items. */
  readonly names: readonly string[];
  /** True if the store probably has the part. */
  isStored: boolean;
}

/** Turns the items of records of one type into parts, and parts into items. */
export interface Items<Body> {
  /**
   * Divides items into packs. A history that was read from the store is divided as it is stored.
   */
  pack(items: readonly JsonObject[]): Promise<readonly Pack[]>;
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

interface PresentPart<Body> extends Part<Body> {
  readonly remembered: Pack | undefined;
}

/** Overhead of a stored part besides its content: keys, names, and the records that have it. */
const PART_OVERHEAD_BYTES = 256;

/** Overhead of a remembered pack besides its items, beyond `PART_OVERHEAD_BYTES`. */
const REMEMBERED_OVERHEAD_BYTES = 160;

/** Maximum bytes of a pack with several items. */
const MAX_PACK_BYTES = 64 * 1024;

/** More items than fit into a pack: each has at least the bytes of an object. */
const MAX_PACK_ITEMS = MAX_PACK_BYTES / 64;

const MAX_REMEMBERED_PACKS = 10_000;

/** Maximum bytes of the IDs of records whose packs are remembered, and of the keys of these. */
const MAX_REMEMBERED_KEYS_BYTES = 1024 * 1024;

/**
 * Returns the items of the records of one type, of which the store has at most `maxRecords`. A turn
 * of a dialogue adds a pack; too many small ones in a row become one, so that a long dialogue has
 * few parts and shares nearly all of them with its earlier turns. Work on many items is divided
 * among `turns`.
 */
export function newItems<Body>(
  content: ContentCodec<Body>,
  kind: RecordKind,
  turns: LoopTurns,
  maxRecords: number,
): Items<Body> {
  // By their first item. Items are immutable: those of a history are the objects that were read.
  const known = new WeakMap<JsonObject, Pack>();
  const limits = {
    ttl: Infinity,
    entries: MAX_REMEMBERED_PACKS,
    bytes: content.maxRememberedBytes,
  };
  const recent = new BoundedStore<Pack>(limits, () => 0);
  const keysOf = new BoundedStore<readonly string[]>(
    { ...limits, entries: maxRecords, bytes: Math.min(MAX_REMEMBERED_KEYS_BYTES, limits.bytes) },
    () => 0,
  );

  function keep(pack: Pack): void {
    recent.set(pack.key, pack, pack.bytes + REMEMBERED_OVERHEAD_BYTES);
  }

  function remember(pack: Pack): Pack {
    const [first] = pack.items;
    if (first !== undefined) known.set(first, pack);
    return pack;
  }

  /** Returns the known pack with the items from an index on. */
  function knownAt(items: readonly JsonObject[], from: number): Pack | null {
    const first = items[from];
    const pack = first === undefined ? undefined : known.get(first);
    return pack?.items.every((item, at) => items[from + at] === item) ? pack : null;
  }

  /** Returns new packs of items whose size in memory is known. */
  function packsOf(items: JsonObject[], held: number): readonly Pack[] {
    const text = content.identify(items);
    const bytes = PART_OVERHEAD_BYTES + Math.max(held, text.bytes);
    if (bytes > MAX_PACK_BYTES && items.length > 1) {
      // A text is larger than its value in memory if it has many escapes.
      const middle = items.length >> 1;
      return [items.slice(0, middle), items.slice(middle)].flatMap((half) =>
        packsOf(half, half.reduce((sum, item) => sum + heldBytes(item), 0))
      );
    }
    return [remember({ items, names: namesOf(items), key: text.key, bytes, isStored: false })];
  }

  /** Returns new packs of the items from an index on that fit into one, and of no known pack. */
  function newPacks(
    items: readonly JsonObject[],
    from: number,
    isKnown: (at: number) => boolean = () => false,
  ): readonly Pack[] {
    let held = 0;
    let to = from;
    for (const item of items.slice(from, from + MAX_PACK_ITEMS)) {
      const bytes = heldBytes(item);
      const isFull = PART_OVERHEAD_BYTES + held + bytes > MAX_PACK_BYTES;
      if (to > from && (isFull || isKnown(to))) break;
      held += bytes;
      to++;
    }
    return packsOf(items.slice(from, to), held);
  }

  /** Makes one pack of the small ones at the end if there are too many. */
  function withoutManySmall(packs: readonly Pack[]): readonly Pack[] {
    const from = packs.findLastIndex(({ bytes }) => bytes >= MAX_PACK_BYTES / 2) + 1;
    if (packs.length - from <= content.maxSmallPacks) return packs;
    const small = packs.slice(from).flatMap(({ items }) => items);
    const made = packs.slice(0, from);
    for (let at = 0; at < small.length;) at += addTo(made, newPacks(small, at));
    return made;
  }

  async function decodeItems(key: string, body: Body): Promise<Result<readonly JsonObject[]>> {
    const value = await content.decode(kind, key, body);
    if (!value.ok) return value;
    const items = value.value;
    return Array.isArray(items) && items.every(isObject) ? success(items) : recordUnreadable();
  }

  async function decodePart(
    { key, names, bytes, body, remembered }: PresentPart<Body>,
  ): Promise<Result<Pack>> {
    const before = remembered ?? recent.get(key);
    if (before !== undefined) return success(before);
    if (body === null) return recordUnreadable();
    const items = await decodeItems(key, body);
    if (!items.ok) return items;
    const pack = remember({ items: items.value, names, key, bytes, isStored: true });
    keep(pack);
    return success(pack);
  }

  return {
    async pack(items) {
      const packs: Pack[] = [];
      const isKnown = (at: number) => knownAt(items, at) !== null;
      for (let at = 0; at < items.length;) {
        const pack = knownAt(items, at);
        at += addTo(packs, pack === null ? newPacks(items, at, isKnown) : [pack]);
        const turn = turnAmong(turns, items.length);
        if (turn !== null) await turn;
      }
      return withoutManySmall(packs);
    },
    async encode(packs, missing) {
      const count = packs.reduce((sum, { items }) => sum + items.length, 0);
      const bodies = new Map<string, Body>();
      const parts: Part<Body>[] = [];
      for (const { items, names, key, bytes, isStored } of packs) {
        const isSent = !isStored || missing.has(key);
        if (isSent && !bodies.has(key)) {
          bodies.set(key, await content.encode(kind, key, [...items]));
        }
        const body = isSent ? bodies.get(key) ?? null : null;
        parts.push({ key, names, bytes, body });
        const turn = turnAmong(turns, count);
        if (turn !== null) await turn;
      }
      return parts;
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
        if (!pack.isStored) keep(pack);
        pack.isStored = true;
      }
    },
    async decode(parts, remembered) {
      const starting = turnAmong(turns, parts.length, "large");
      if (starting !== null) await starting;
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

/** Adds packs to a list and returns the number of their items. */
function addTo(packs: Pack[], more: readonly Pack[]): number {
  pushAll(packs, more);
  return more.reduce((sum, { items }) => sum + items.length, 0);
}

function namesOf(items: readonly JsonObject[]): readonly string[] {
  const names = items.flatMap(({ id }) => typeof id === "string" ? [keyText(id)] : []);
  return [...new Set(names)];
}
