import {
  examinedHolders,
  MAX_NAMED_PARTS,
  type NamedPart,
  type Part,
  type ReadOptions,
  type RecordId,
  type RecordType,
  type StoredRecord,
} from "../../records/record_store.ts";
import { type Database, integerOf, recordOf, type Row, textOf } from "../database.ts";
import type { OperationContext } from "../operation.ts";
import { nextNumber } from "./table.ts";

type Blob = Uint8Array<ArrayBuffer>;

/** A lookup of records. */
export interface Lookup {
  readonly ids: readonly RecordId[];
  readonly options: ReadOptions;
}

/** Returns the records of a lookup, as `RecordStore.get` describes. */
export const getRecords = {
  kind: "read" as const,
  run(context: OperationContext, { ids, options }: Lookup) {
    return ids.map((id) => readRecord(context, id, options));
  },
};

/** The same with a lifetime that begins again. */
export const renewRecords = {
  kind: "write" as const,
  run(context: OperationContext, { ids, options }: Lookup) {
    const { database, now } = context;
    const { renewMs = 0 } = options;
    return ids.map((id) => {
      const found = readRecord(context, id, options);
      if (found === null) return null;
      database.change(
        "update record set seq = ?, changed = ?, expires = ? where type = ? and id = ?",
        nextNumber(context),
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
  { content, known = [] }: ReadOptions,
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
  const reader: PartReader = {
    wanted: content === "all" ? null : new Set(content),
    known: new Set(known),
  };
  return { ...record, parts: partsOf(database, integerOf(row, "key"), reader) };
}

/** Decides what is read of the parts of a record. */
interface PartReader {
  /** Keys of the parts whose bodies are read; null for all. */
  readonly wanted: ReadonlySet<string> | null;
  readonly known: ReadonlySet<string>;
}

/** Returns the parts of a record; each is read once. */
function partsOf(
  database: Database,
  record: number,
  reader: PartReader,
): readonly Part<Blob>[] {
  const read = new Map<number, Part<Blob>>();
  return database.rows(
    `select part.key as key, digest, part.bytes as bytes
       from holds cross join part on part.key = holds.part where record = ? order by position`,
    record,
  ).map((row) => {
    const key = integerOf(row, "key");
    const part = read.get(key) ?? readPart(database, row, reader);
    read.set(key, part);
    return part;
  });
}

function readPart(database: Database, found: Row, { wanted, known }: PartReader): Part<Blob> {
  const key = integerOf(found, "key");
  const part = { key: textOf(found, "digest"), bytes: integerOf(found, "bytes") };
  if (known.has(part.key)) return { ...part, names: [], body: null };
  const row = database.row("select names from part where key = ?", key) ?? {};
  const isWanted = wanted === null || wanted.has(part.key);
  return {
    ...part,
    names: JSON.parse(textOf(row, "names")),
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

/** The uses of a part, of which a lookup reads as many as it needs. */
interface PartUses {
  /** Number of the last commit that gave the part to one of the examined records. */
  readonly given: number;
  /** Returns the uses by the youngest of these records. */
  holders(): readonly Omit<NamedPart<Blob>, "name">[];
}

/**
 * Returns the uses of parts by their names, as `RecordStore.named` describes. Of more than
 * `MAX_NAMED_PARTS` parts with a name it examines those that were stored last. Many names are of
 * one part, and many records have it: its uses are looked up once.
 */
export const namedParts = {
  kind: "read" as const,
  run(context: OperationContext, { type, names, most }: NamedLookup): readonly NamedPart<Blob>[] {
    const { database } = context;
    const known = new Map<number, PartUses>();

    function usesOf(part: number): PartUses {
      const uses = known.get(part) ?? newPartUses(context, part, most);
      known.set(part, uses);
      return uses;
    }

    return names.flatMap((name) => {
      const parts = database.rows(
        "select part from name where type = ? and name = ? order by part desc limit ?",
        type,
        name,
        MAX_NAMED_PARTS,
      ).map((row) => usesOf(integerOf(row, "part")));
      const uses: NamedPart<Blob>[] = [];
      for (const part of parts.toSorted((one, other) => other.given - one.given)) {
        if (uses.length >= most) break;
        for (const use of part.holders().slice(0, most - uses.length)) uses.push({ ...use, name });
      }
      return uses;
    });
  },
};

function newPartUses({ database, now }: OperationContext, part: number, most: number): PartUses {
  let holders: ReturnType<PartUses["holders"]> | null = null;

  function read(): ReturnType<PartUses["holders"]> {
    // Joined only after the limit. A cross join keeps this order.
    const rows = database.rows(
      `select digest, record.id as id, record.head as head, record.seq as seq, position
         from (select record, max(position) as position from holds where part = ?
               group by record order by record desc limit ?) as holder
           cross join record on record.key = holder.record
           cross join part on part.key = ?
         where expires > ? order by seq desc limit ?`,
      part,
      examinedHolders(most),
      part,
      now,
      most,
    );
    if (rows.length === 0) return [];
    const body = bodyOfPart(database, part);
    return rows.map((row) => ({
      key: textOf(row, "digest"),
      body,
      id: textOf(row, "id"),
      head: textOf(row, "head"),
      order: integerOf(row, "seq"),
      position: integerOf(row, "position"),
    }));
  }

  const row = database.row(
    `select coalesce(max(given), 0) as given
       from (select given from holds where part = ? order by record desc limit ?)`,
    part,
    examinedHolders(most),
  );
  return {
    given: row === undefined ? 0 : integerOf(row, "given"),
    holders: () => holders ??= read(),
  };
}
