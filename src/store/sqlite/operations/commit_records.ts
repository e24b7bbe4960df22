import { headBytes } from "../../records/bounds.ts";
import type {
  Change,
  Committed,
  NextRecord,
  Part,
  RecordType,
} from "../../records/record_store.ts";
import { type Database, integerOf, type Row, textOf } from "../database.ts";
import type { OperationContext } from "../operation.ts";
import { makeRoom } from "./record_room.ts";
import { nextNumber, readNumber } from "./table.ts";

type Blob = Uint8Array<ArrayBuffer>;

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

/**
 * Key of no record: parts that a commit of several changes takes from one record to another are
 * held by it.
 */
const NO_RECORD_INDEX = 0;

/**
 * Holds the stored parts that the changes expect, because an earlier change may remove the last
 * record that has one.
 */
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

/**
 * Adds a part and returns its key. The digest is unique, so the part of a commit that fails is
 * undone with it.
 */
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
