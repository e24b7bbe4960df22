import type { Bounds, RecordBounds } from "../../records/bounds.ts";
import { headBytes } from "../../records/bounds.ts";
import {
  type Change,
  type Committed,
  MAX_NAMED_PARTS,
  type NamedPart,
  type NextRecord,
  type Part,
  type ReadOptions,
  type RecordId,
  type RecordType,
  type StoredRecord,
} from "../../records/record_store.ts";
import { type Database, integerOf, recordOf, type Row, textOf } from "../database.ts";
import type { OperationContext } from "../operation.ts";
import { readNumber } from "./table.ts";

type Blob = Uint8Array<ArrayBuffer>;

/** A lookup of records. */
export interface Lookup {
  readonly ids: readonly RecordId[];
  readonly options: ReadOptions;
}

/** Returns the records of a lookup, as `RecordStore.get` describes. */
export const getRecords = {
  kind: "read" as const,
  run(context: OperationContext, { ids, options: { content } }: Lookup) {
    return ids.map((id) => readRecord(context, id, content));
  },
};

/** The same with a lifetime that begins again. */
export const renewRecords = {
  kind: "write" as const,
  run(context: OperationContext, { ids, options: { content, renewMs = 0 } }: Lookup) {
    const { database, now } = context;
    return ids.map((id) => {
      const found = readRecord(context, id, content);
      if (found === null) return null;
      database.change(
        "update record set seq = ?, changed = ?, expires = ? where type = ? and id = ?",
        nextNumber(database),
        now,
        Math.ceil(now + renewMs),
        id.type,
        id.id,
      );
      return found;
    });
  },
};

function readRecord(
  { database, now }: OperationContext,
  { type, id }: RecordId,
  content: ReadOptions["content"],
): StoredRecord<Blob> | null {
  const body = content === "head" ? "null" : "body";
  const row = database.row(
    `select key, version, head, ${body} as body from record where type = ? and id = ? and expires > ?`,
    type,
    id,
    now,
  );
  if (row === undefined) return null;
  const record = {
    version: `${integerOf(row, "version")}`,
    head: textOf(row, "head"),
    body: row.body === null ? null : recordOf(row, "body"),
  };
  if (content === "head" || content === "body") return { ...record, parts: [] };
  return { ...record, parts: partsOf(database, integerOf(row, "key"), content) };
}

/** Returns the parts of a record; each is read once. */
function partsOf(
  database: Database,
  record: number,
  content: "all" | readonly string[],
): readonly Part<Blob>[] {
  const wanted = content === "all" ? null : new Set(content);
  const known = new Map<number, Part<Blob>>();
  return database.rows("select part from holds where record = ? order by position", record).map(
    (held) => {
      const key = integerOf(held, "part");
      const part = known.get(key) ?? readPart(database, key, wanted);
      known.set(key, part);
      return part;
    },
  );
}

function readPart(database: Database, key: number, wanted: Set<string> | null): Part<Blob> {
  const row = database.row("select digest, bytes, names from part where key = ?", key) ?? {};
  const digest = textOf(row, "digest");
  const isWanted = wanted === null || wanted.has(digest);
  return {
    key: digest,
    names: JSON.parse(textOf(row, "names")),
    bytes: integerOf(row, "bytes"),
    body: isWanted ? bodyOfPart(database, key) : null,
  };
}

function bodyOfPart(database: Database, key: number): Blob {
  return recordOf(database.row("select body from part where key = ?", key) ?? {}, "body");
}

/** A lookup of parts by their names. */
export interface NamedLookup {
  readonly type: RecordType;
  readonly names: readonly string[];
  readonly most: number;
}

/** Maximum number of records with one part that a lookup by names examines. */
const MAX_EXAMINED_HOLDERS = 1_000;

/**
 * Returns the uses of parts by their names, as `RecordStore.named` describes. Of more than `MAX_NAMED_PARTS` parts with a
 * name it examines those that were stored last.
 */
export const namedParts = {
  kind: "read" as const,
  run(context: OperationContext, { type, names, most }: NamedLookup): readonly NamedPart<Blob>[] {
    const bodies = new Map<number, Blob>();
    return names.flatMap((name) => usesOf(context, { type, name, most }, bodies));
  },
};

function usesOf(
  { database, now }: OperationContext,
  { type, name, most }: { readonly type: RecordType; readonly name: string; readonly most: number },
  bodies: Map<number, Blob>,
): readonly NamedPart<Blob>[] {
  const parts = database.rows(
    `select part, (select max(given) from holds where holds.part = named.part) as given
       from (select part from name where type = ? and name = ? order by part desc limit ?) as named
       order by given desc`,
    type,
    name,
    MAX_NAMED_PARTS,
  );
  const uses: NamedPart<Blob>[] = [];
  for (const { part } of parts.map((row) => ({ part: integerOf(row, "part") }))) {
    if (uses.length >= most) break;
    // Joined only after the limit. A cross join keeps this order.
    const holders = database.rows(
      `select digest, record.id as id, record.head as head, record.seq as seq, position
         from (select record, max(position) as position from holds where part = ?
               group by record order by record desc limit ?) as holder
           cross join record on record.key = holder.record
           cross join part on part.key = ?
         where expires > ? order by seq desc limit ?`,
      part,
      MAX_EXAMINED_HOLDERS,
      part,
      now,
      most - uses.length,
    );
    for (const holder of holders) {
      const body = bodies.get(part) ?? bodyOfPart(database, part);
      bodies.set(part, body);
      uses.push({
        name,
        key: textOf(holder, "digest"),
        body,
        id: textOf(holder, "id"),
        head: textOf(holder, "head"),
        order: integerOf(holder, "seq"),
        position: integerOf(holder, "position"),
      });
    }
  }
  return uses;
}

/** Makes changes, as `RecordStore.commit` describes. */
export const commitRecords = {
  kind: "write" as const,
  run(context: OperationContext, changes: readonly Change<Blob>[]): Committed {
    const { database, now, bounds } = context;
    for (const type of new Set(changes.map(({ id }) => id.type))) {
      database.change("delete from record where type = ? and expires <= ?", type, now);
    }
    const earlier = changes.map(({ id: { type, id } }) =>
      database.row("select key, version from record where type = ? and id = ?", type, id)
    );
    const hasChanged = changes.some(({ expected }, at) => {
      const row = earlier[at];
      const version = row === undefined ? null : `${integerOf(row, "version")}`;
      return expected !== "any" && expected !== version;
    });
    if (hasChanged) return { kind: "changed" };
    const missing = changes.flatMap(({ id, next }) => missingKeys(database, id.type, next));
    if (missing.length > 0) return { kind: "missing", keys: [...new Set(missing)] };
    keepParts(database, changes);
    for (const [at, change] of changes.entries()) write(context, change, earlier[at]);
    database.change("delete from holds where record = ?", NO_RECORD_INDEX);
    for (const { id, next } of changes) {
      if (next !== null) makeRoom(database, id, bounds);
    }
    return { kind: "done" };
  },
};

/** Key of no record: parts that a commit of several changes takes from one record to another are held by it. */
const NO_RECORD_INDEX = 0;

/** Holds the stored parts that the changes expect, because an earlier change may remove the last record that has one. */
function keepParts(database: Database, changes: readonly Change<Blob>[]): void {
  if (changes.length < 2) return;
  const keys = changes.flatMap(({ id, next }) =>
    (next?.parts ?? []).flatMap(({ key, body }) =>
      body === null ? keyOfPart(database, id.type, key) ?? [] : []
    )
  );
  for (const [position, key] of keys.entries()) {
    database.change("insert into holds values (?, ?, ?, 0)", NO_RECORD_INDEX, position, key);
  }
}

function missingKeys(
  database: Database,
  type: RecordType,
  next: NextRecord<Blob> | null,
): readonly string[] {
  return (next?.parts ?? [])
    .filter(({ key, body }) => body === null && keyOfPart(database, type, key) === null)
    .map(({ key }) => key);
}

function keyOfPart(database: Database, type: RecordType, digest: string): number | null {
  const row = database.row("select key from part where type = ? and digest = ?", type, digest);
  return row === undefined ? null : integerOf(row, "key");
}

function write(
  { database, now }: OperationContext,
  { id: { type, id }, next }: Change<Blob>,
  earlier: Row | undefined,
): void {
  if (next === null) {
    database.change("delete from record where type = ? and id = ?", type, id);
    return;
  }
  const number = nextNumber(database);
  const heads = headBytes(id, next.head);
  const { body, lifeMs } = next;
  const expires = Math.ceil(now + (lifeMs ?? 0));
  let key = number;
  if (earlier === undefined) {
    database.change(
      `insert into record values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[key, type, id, number, number, next.share, now, expires],
      ...[heads, heads + (body?.bytes ?? 0), body ? 1 : 0, next.head, body?.body ?? null],
    );
  } else {
    key = integerOf(earlier, "key");
    database.change(
      `update record set version = ?, head = ?, head_bytes = ?, bytes = bytes - head_bytes + ?
         where key = ?`,
      ...[number, next.head, heads, heads, key],
    );
    if (body !== undefined) {
      database.change(
        "update record set body = ?, has_body = ?, bytes = head_bytes + ? where key = ?",
        ...[body?.body ?? null, body === null ? 0 : 1, body?.bytes ?? 0, key],
      );
    }
    if (lifeMs !== null) {
      database.change(
        "update record set seq = ?, changed = ?, expires = ? where key = ?",
        ...[number, now, expires, key],
      );
    }
  }
  if (next.parts !== undefined) give(database, { type, key, number }, next.parts);
}

interface Holder {
  readonly type: RecordType;
  /** Key of the record. */
  readonly key: number;
  /** Number of the change. */
  readonly number: number;
}

/** Replaces the parts of a record. */
function give(database: Database, holder: Holder, parts: readonly Part<Blob>[]): void {
  const { type, key, number } = holder;
  const share = textOf(database.row("select share from record where key = ?", key) ?? {}, "share");
  const keys = parts.map((part) =>
    keyOfPart(database, type, part.key) ?? add(database, type, share, part)
  );
  // At other positions first, because a part goes with the last record that has it.
  const from = readNumber(
    database,
    "select coalesce(max(position), -1) + 1 from holds where record = ?",
    key,
  );
  for (const [position, part] of keys.entries()) {
    database.change("insert into holds values (?, ?, ?, ?)", key, from + position, part, number);
  }
  if (from === 0) return;
  database.change("delete from holds where record = ? and position < ?", key, from);
  database.change("update holds set position = position - ? where record = ?", from, key);
}

/** Adds a part and returns its key. The digest is unique, so the part of a commit that fails is undone with it. */
function add(database: Database, type: RecordType, share: string, part: Part<Blob>): number {
  const names = JSON.stringify(part.names);
  database.change(
    "insert into part (type, digest, share, bytes, names, body) values (?, ?, ?, ?, ?, ?)",
    ...[type, part.key, share, part.bytes, names, part.body ?? new Uint8Array()],
  );
  const key = keyOfPart(database, type, part.key) ?? 0;
  database.change(
    "insert into name select ?, value, ? from json_each(?) where true on conflict do nothing",
    ...[type, key, names],
  );
  return key;
}

/** Removes records until the type of a changed record is within its bounds. */
function makeRoom(database: Database, { type, id }: RecordId, bounds: RecordBounds): void {
  const needing = database.row("select key, share from record where type = ? and id = ?", type, id);
  if (needing === undefined) return;
  const [key, share] = [integerOf(needing, "key"), textOf(needing, "share")];
  const remove = (row: Row | undefined): boolean =>
    row !== undefined &&
    database.change("delete from record where key = ?", integerOf(row, "key")) > 0;
  const { shareEntries = Infinity, shareBytes = Infinity } = bounds[type];
  for (;;) {
    const own = database.row(
      "select entries, bytes from share where type = ? and share = ?",
      type,
      share,
    );
    if (own === undefined || !isAbove(own, shareEntries, shareBytes)) break;
    if (!remove(oldestOf(database, type, share, key))) break;
  }
  for (;;) {
    const { entries, bytes, headBytes: heads = bytes } = bounds[type];
    const total = database.row(
      "select entries, head_bytes, bytes from record_total where type = ?",
      type,
    ) ?? {};
    if (!isAbove(total, entries, bytes) && integerOf(total, "head_bytes") <= heads) return;
    const isCrowded = integerOf(total, "entries") > entries;
    if (!remove(toRemove(database, { type, share, key, isCrowded }, bounds[type]))) return;
  }
}

function isAbove(size: Row, entries: number, bytes: number): boolean {
  return integerOf(size, "entries") > entries || integerOf(size, "bytes") > bytes;
}

interface Needing {
  readonly type: RecordType;
  readonly share: string;
  readonly key: number;
  /** True if there are too many records; else they have too many bytes. */
  readonly isCrowded: boolean;
}

/** Returns the record that makes room; see `Bounds`. */
function toRemove(
  database: Database,
  { type, share, key, isCrowded }: Needing,
  { room }: Bounds,
): Row | undefined {
  if (room === "largest_share") {
    const column = isCrowded ? "entries" : "bytes";
    const largest = database.row(
      `select share from share where type = ?1 and exists
           (select 1 from record where type = ?1 and record.share = share.share and key <> ?2)
         order by ${column} desc, share = ?3 desc limit 1`,
      type,
      key,
      share,
    );
    if (largest !== undefined) return oldestOf(database, type, textOf(largest, "share"), key);
  }
  return database.row(
    "select key from record where type = ? and key <> ? order by seq limit 1",
    type,
    key,
  );
}

function oldestOf(
  database: Database,
  type: RecordType,
  share: string,
  needing: number,
): Row | undefined {
  return database.row(
    "select key from record where type = ? and share = ? and key <> ? order by seq limit 1",
    type,
    share,
    needing,
  );
}

/** Returns the number of the next commit or lookup that renews. */
function nextNumber(database: Database): number {
  database.change("update counter set last = last + 1");
  return readNumber(database, "select last from counter");
}
