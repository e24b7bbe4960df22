import { type Bounds, headBytes } from "../records/bounds.ts";
import {
  examinedHolders,
  MAX_NAMED_PARTS,
  type NamedPart,
  type NextRecord,
  type Part,
  type RecordStats,
  type SizedBody,
} from "../records/record_store.ts";
import { type HeldPart, newMemoryParts } from "./parts.ts";
import { newShares, oldestBut } from "./shares.ts";

/** A record in memory. */
export interface MemoryRecord<Body> {
  readonly version: string;
  readonly head: string;
  readonly body: SizedBody<Body> | null;
  /** Keys of its parts, in order. */
  readonly keys: readonly string[];
  readonly share: string;
  /** Number of the commit or lookup that made it the youngest. */
  readonly order: number;
  readonly ends: number;
}

/** Records of one type in memory. */
export interface MemoryTable<Body> {
  /** Returns a record that has not expired. */
  get(id: string): MemoryRecord<Body> | null;
  /** Returns the parts of a record. */
  partsOf(record: MemoryRecord<Body>): readonly Part<Body>[];
  /** Returns the keys of those parts that have no body and are not stored. */
  missing(parts: readonly Part<Body>[]): readonly string[];
  renew(id: string, lifeMs: number): void;
  /** Adds or replaces a record; see `NextRecord`. */
  set(id: string, next: NextRecord<Body>): void;
  remove(id: string): void;
  /**
   * Removes records until the type is within its bounds. `id` is the record that needs the room.
   */
  makeRoom(id: string): void;
  /** Returns at most `most` uses of each name; see `RecordStore.named`. */
  named(names: readonly string[], most: number): readonly NamedPart<Body>[];
  stats(): RecordStats;
}

/** Returns an empty table. */
export function newMemoryTable<Body>(now: () => number, bounds: Bounds): MemoryTable<Body> {
  // By age, the oldest first. All have the same lifetime, so that the first one expires next.
  const records = new Map<string, MemoryRecord<Body>>();
  const parts = newMemoryParts<Body>();
  const shares = newShares();
  let changes = 0;
  let bodies = 0;
  let heads = 0;
  let bytes = 0;

  function count(id: string, { head, body, share }: MemoryRecord<Body>, sign: 1 | -1): void {
    const size = headBytes(id, head) + (body?.bytes ?? 0);
    if (body !== null) bodies += sign;
    heads += sign * headBytes(id, head);
    countBytes(share, sign * size);
  }

  function countBytes(share: string, difference: number): void {
    bytes += difference;
    shares.addBytes(share, difference);
  }

  function release(id: string, { keys }: MemoryRecord<Body>): void {
    for (const key of keys) {
      const freed = parts.release(key, id);
      if (freed !== null) countBytes(freed.share, -freed.part.bytes);
    }
  }

  function remove(id: string): void {
    const record = records.get(id);
    if (record === undefined) return;
    records.delete(id);
    shares.remove(record.share, id);
    count(id, record, -1);
    release(id, record);
  }

  function get(id: string): MemoryRecord<Body> | null {
    const record = records.get(id);
    if (record === undefined || now() < record.ends) return record ?? null;
    remove(id);
    return null;
  }

  function dropExpired(): void {
    for (const [id, { ends }] of records) {
      if (now() < ends) return;
      remove(id);
    }
  }

  /** Makes a record the youngest one. */
  function touch(id: string, record: MemoryRecord<Body>): void {
    records.delete(id);
    records.set(id, record);
    shares.touch(record.share, id);
  }

  function holdAll(id: string, share: string, list: readonly Part<Body>[]): void {
    for (const [position, part] of list.entries()) {
      if (parts.hold(part, { id, position, share })) countBytes(share, part.bytes);
    }
  }

  function ownToDrop(share: string, needing: string): string | undefined {
    const { shareEntries = Infinity, shareBytes = Infinity } = bounds;
    const own = shares.sizeOf(share);
    if (own.entries <= shareEntries && own.bytes <= shareBytes) return undefined;
    return shares.oldestOf(share, needing);
  }

  function oldestToDrop(needing: string): string | undefined {
    const isCrowded = records.size > bounds.entries;
    const isWithin = bytes <= bounds.bytes && heads <= (bounds.headBytes ?? bounds.bytes);
    if (!isCrowded && isWithin) return undefined;
    const oldest = oldestBut(needing, records.keys());
    if (bounds.room === "oldest") return oldest;
    const own = records.get(needing)?.share;
    return shares.oldestOfLargest(isCrowded ? "entries" : "bytes", needing, own) ?? oldest;
  }

  /** Returns the uses of a part by the records that have it last, the youngest one first. */
  function youngestUses(
    { part: { key, body }, holders }: HeldPart<Body>,
    most: number,
  ): readonly Omit<NamedPart<Body>, "name">[] {
    const uses = [...holders].slice(-examinedHolders(most)).flatMap(([id, { position }]) => {
      const record = get(id);
      if (record === null || body === null) return [];
      const { head, order } = record;
      return [{ key, body, id, head, order, position }];
    });
    return uses.toSorted((one, other) => other.order - one.order).slice(0, most);
  }

  return {
    get,
    partsOf: ({ keys }) => keys.flatMap((key) => parts.get(key)?.part ?? []),
    missing(list) {
      dropExpired();
      return list.flatMap(({ key, body }) => body === null && parts.get(key) === null ? [key] : []);
    },
    renew(id, lifeMs) {
      const record = get(id);
      if (record !== null) touch(id, { ...record, order: ++changes, ends: now() + lifeMs });
    },
    set(id, { head, body, parts: list, share, lifeMs }) {
      const earlier = get(id);
      const next: MemoryRecord<Body> = {
        version: `${++changes}`,
        head,
        body: body === undefined ? earlier?.body ?? null : body,
        keys: list?.map(({ key }) => key) ?? earlier?.keys ?? [],
        share: earlier?.share ?? share,
        order: lifeMs === null && earlier !== null ? earlier.order : changes,
        ends: lifeMs === null && earlier !== null ? earlier.ends : now() + (lifeMs ?? 0),
      };
      // First: the earlier record may be the only one that has a part.
      if (list !== undefined) holdAll(id, next.share, list);
      if (earlier !== null) {
        count(id, earlier, -1);
        if (list !== undefined) release(id, earlier);
      }
      records.set(id, next);
      count(id, next, 1);
      if (earlier === null || lifeMs !== null) touch(id, next);
    },
    remove,
    makeRoom(id) {
      dropExpired();
      const share = records.get(id)?.share;
      if (share === undefined) return;
      for (let next = ownToDrop(share, id); next !== undefined; next = ownToDrop(share, id)) {
        remove(next);
      }
      for (let next = oldestToDrop(id); next !== undefined; next = oldestToDrop(id)) remove(next);
    },
    named(names, most) {
      // Many names are of one part, and many records have it: its uses are looked up once.
      const known = new Map<HeldPart<Body>, readonly Omit<NamedPart<Body>, "name">[]>();
      return names.flatMap((name) => {
        const found: NamedPart<Body>[] = [];
        for (const held of parts.named(name, MAX_NAMED_PARTS)) {
          const uses = known.get(held) ?? youngestUses(held, most);
          known.set(held, uses);
          for (const use of uses.slice(0, most - found.length)) found.push({ ...use, name });
          if (found.length >= most) break;
        }
        return found;
      });
    },
    stats() {
      dropExpired();
      return { entries: records.size, bodies, headBytes: heads, bytes };
    },
  };
}
