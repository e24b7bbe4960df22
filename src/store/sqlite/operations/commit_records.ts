import { headBytes } from "../../records/bounds.ts";
import type { Change, Committed, Part, RecordType } from "../../records/record_store.ts";
import { type Database, integerOf, type Row, textOf } from "../database.ts";
import type { OperationContext } from "../operation.ts";
import { makeRoom } from "./record_room.ts";
import { nextNumber, readNumber } from "./table.ts";

type Blob = Uint8Array<ArrayBuffer>;

/** Keys of stored parts by their digests. */
type PartKeys = Map<string, number>;

/** Makes changes, as `RecordStore.commit` describes. */
export const commitRecords = {
  kind: "write" as const,
  run(context: OperationContext, changes: readonly Change<Blob>[]): Committed {
    const { database, now, bounds } = context;
    for (const type of new Set(changes.map(({ id }) => id.type))) {
      database.change("delete from record where type = ? and expires <= ?", type, now);
    }
    const earlier = changes.map(({ id: { type, id } }) =>
      database.row("select key, version, share from record where type = ? and id = ?", type, id)
    );
    const hasChanged = changes.some(({ expected }, at) => {
      const row = earlier[at];
      const version = row === undefined ? null : `${integerOf(row, "version")}`;
      return expected !== "any" && expected !== version;
    });
    if (hasChanged) return { kind: "changed" };
    const stored = changes.map(({ id, next }) => storedParts(database, id.type, next?.parts ?? []));
    const missing = changes.flatMap(({ next }, at) => missingKeys(next?.parts ?? [], stored[at]));
    if (missing.length > 0) return { kind: "missing", keys: [...new Set(missing)] };
    const [only] = changes.length === 1 ? stored : [];
    if (only === undefined) keepParts(database, changes, stored);
    for (const [at, change] of changes.entries()) {
      write(context, change, { earlier: earlier[at], stored: only ?? null });
    }
    if (only === undefined) {
      database.change("delete from holds where record = ?", NO_RECORD_INDEX);
    }
    for (const { id, next } of changes) {
      if (next !== null) makeRoom(database, id, bounds);
    }
    return { kind: "done" };
  },
};

/**
 * Key of no record: parts that a commit of several changes takes from one record to another are
 * held by it.
 */
const NO_RECORD_INDEX = 0;

/**
 * Holds the stored parts that the changes expect, because an earlier change may remove the last
 * record that has one.
 */
function keepParts(
  database: Database,
  changes: readonly Change<Blob>[],
  stored: readonly PartKeys[],
): void {
  const keys = changes.flatMap(({ next }, at) =>
    (next?.parts ?? []).flatMap(({ key, body }) => body === null ? stored[at]?.get(key) ?? [] : [])
  );
  hold(database, { key: NO_RECORD_INDEX, number: 0 }, keys);
}

function storedParts(
  database: Database,
  type: RecordType,
  parts: readonly Part<Blob>[],
): PartKeys {
  if (parts.length === 0) return new Map();
  const rows = database.rows(
    `select digest, key from part
       where type = ? and digest in (select value from json_each(?))`,
    type,
    JSON.stringify(parts.map(({ key }) => key)),
  );
  return new Map(rows.map((row) => [textOf(row, "digest"), integerOf(row, "key")]));
}

function missingKeys(
  parts: readonly Part<Blob>[],
  stored: PartKeys | undefined,
): readonly string[] {
  return parts.flatMap(({ key, body }) => body === null && !stored?.has(key) ? [key] : []);
}

/** State of the store before a change. */
interface Before {
  /** The record. */
  readonly earlier: Row | undefined;
  /** Its next parts; null if other changes of the commit come first. */
  readonly stored: PartKeys | null;
}

function write(
  context: OperationContext,
  { id: { type, id }, next }: Change<Blob>,
  { earlier, stored }: Before,
): void {
  const { database, now } = context;
  if (next === null) {
    database.change("delete from record where type = ? and id = ?", type, id);
    return;
  }
  const number = nextNumber(context);
  const heads = headBytes(id, next.head);
  const { body, parts, lifeMs } = next;
  const expires = Math.ceil(now + (lifeMs ?? 0));
  const key = earlier === undefined ? number : integerOf(earlier, "key");
  const share = earlier === undefined ? next.share : textOf(earlier, "share");
  if (earlier === undefined) {
    database.change(
      `insert into record values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[key, type, id, number, number, share, now, expires],
      ...[heads, heads + (body?.bytes ?? 0), body ? 1 : 0, next.head, body?.body ?? null],
    );
  } else {
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
  if (parts === undefined) return;
  const known = stored ?? storedParts(database, type, parts);
  const keys = parts.map((part) => known.get(part.key) ?? add(database, type, share, part, known));
  if (earlier === undefined) hold(database, { key, number }, keys);
  else replace(database, { key, number }, keys);
}

interface Holder {
  /** Key of the record. */
  readonly key: number;
  /** Number of the change. */
  readonly number: number;
}

/** Gives parts to a record, from a position on. */
function hold(
  database: Database,
  { key, number }: Holder,
  parts: readonly number[],
  from = 0,
): void {
  database.change(
    "insert into holds select ?, ? + key, value, ? from json_each(?)",
    ...[key, from, number, JSON.stringify(parts)],
  );
}

/** Replaces the parts of a record. */
function replace(database: Database, holder: Holder, parts: readonly number[]): void {
  const { key } = holder;
  // At other positions first, because a part goes with the last record that has it.
  const from = readNumber(
    database,
    "select coalesce(max(position), -1) + 1 from holds where record = ?",
    key,
  );
  hold(database, holder, parts, from);
  if (from === 0) return;
  database.change("delete from holds where record = ? and position < ?", key, from);
  database.change("update holds set position = position - ? where record = ?", from, key);
}

/**
 * Adds a part and returns its key. The digest is unique, so the part of a commit that fails is
 * undone with it.
 */
function add(
  database: Database,
  type: RecordType,
  share: string,
  part: Part<Blob>,
  known: PartKeys,
): number {
  const names = JSON.stringify(part.names);
  const row = database.row(
    `insert into part (type, digest, share, bytes, names, body) values (?, ?, ?, ?, ?, ?)
       returning key`,
    ...[type, part.key, share, part.bytes, names, part.body ?? new Uint8Array()],
  );
  const key = integerOf(row ?? {}, "key");
  known.set(part.key, key);
  if (part.names.length > 0) {
    database.change(
      "insert into name select ?, value, ? from json_each(?) where true on conflict do nothing",
      ...[type, key, names],
    );
  }
  return key;
}
