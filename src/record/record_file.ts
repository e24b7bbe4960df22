import {
  type Database,
  integerOf,
  openDatabase,
  rollBack,
  type Row,
} from "../store/sqlite/database.ts";
import { problemOf } from "../store/sqlite/errors.ts";
import { readNumber } from "../store/sqlite/operations/table.ts";
import { PAGE_BYTES } from "../store/sqlite/pages.ts";
import type { Problem } from "../store/sqlite/problems.ts";
import { deleteOlder, makeRoom, relieve, shrink, usedBytes } from "./file_room.ts";
import { newMatcher, type RecordFilter } from "./filter.ts";
import { newMakers, prepareRecord } from "./prepare_record.ts";
import type { CallRecord } from "./record.ts";
import { newRecordMask, type RecordMask, type RecordPolicy } from "./record_mask.ts";
import { RECORD_FORMAT } from "./record_format.ts";
import { newRowCodec, recordsIn, type RowBodies, type SealedRow } from "./row_codec.ts";
import { MAX_ROW_RECORDS, MAX_ROW_SPREAD_MS, RECORD_TABLES } from "./tables.ts";
import type { StoredBody, StoredHead, WrittenRecord } from "./written_record.ts";

/** Options of a file of records. */
export interface RecordFileOptions extends RecordSettings {
  readonly path: string;
  /** Keys of 32 bytes; the first one seals. */
  readonly keys: readonly Uint8Array<ArrayBuffer>[];
  /** Maximum number of pages, as a full disk has; absent for the limit of SQLite. */
  readonly maxPages?: number;
}

/** Settings of an open file that may change. */
export interface RecordSettings {
  /** Maximum size of the file. */
  readonly maxBytes: number;
  /** Time after which a record is deleted. */
  readonly keepMs: number;
  readonly policy: RecordPolicy;
}

/** Size of a file of records. */
export interface RecordTotals {
  readonly records: number;
  readonly bytes: number;
  /** Unix times in milliseconds of the oldest and the newest record. */
  readonly oldest: number | null;
  readonly newest: number | null;
}

/** Result of a write: what was written, or why nothing was. */
export type Written =
  | {
    readonly ok: true;
    /** Written records, with and without content. */
    readonly all: number;
    readonly heads: number;
    /** Records that were dropped because masking has failed. */
    readonly unredacted: number;
    readonly totals: RecordTotals;
  }
  | { readonly ok: false; readonly problem: Problem };

/** A search, or a part of it. */
export interface ScanRequest {
  readonly filter: RecordFilter;
  /** Number before which the search continues; null from the newest record on. */
  readonly before: number | null;
  /** Maximum number of hits. */
  readonly limit: number;
  /** True if the hits have the content of their calls. */
  readonly withContent: boolean;
}

/** A found record. */
export type Hit =
  | { readonly seq: number; readonly record: CallRecord; readonly excerpt: string | null }
  /** A record that cannot be opened with the keys that there are. */
  | { readonly seq: number; readonly at: number; readonly keyNumber: number | null };

/** Result of a part of a search. */
export interface ScanResult {
  readonly hits: readonly Hit[];
  /** Number before which the next part begins; null at the end. */
  readonly next: number | null;
  /** Records that were passed by because they cannot be opened, so that they may match or not. */
  readonly closed: number;
}

/** Totals of a file. */
export interface RecordFileInfo extends RecordTotals {
  readonly readable: number;
  /** Records that cannot be opened, by the number of their key. */
  readonly unreadable: Readonly<Record<string, number>>;
}

/** An open file of records. It is used by one thread of one process. */
export interface RecordFile {
  /** Writes records, and deletes the oldest ones for which there is no room. */
  write(records: readonly WrittenRecord[], now: number): Written;
  /** Deletes records that are too old at this time. */
  expire(now: number): RecordTotals;
  /** Null if the file cannot be read. */
  scan(request: ScanRequest): ScanResult | null;
  info(): RecordFileInfo;
  totals(): RecordTotals;
  apply(settings: RecordSettings): void;
  close(): void;
}

/** Rows that one part of a search reads, and characters of content after which it ends. */
const MAX_SLICE_ROWS = 64;
const MAX_SLICE_CHARS = 2 * 1024 * 1024;

/** The same of a search with a pattern, which is slower. */
const MAX_PATTERN_CHARS = 64 * 1024;

/** Room for the pages that are only partly filled, per row. */
const MARGIN_BYTES = PAGE_BYTES;

/** The last time that a date can have. */
const MAX_TIME_MS = 8.64e15;

/** Opens the file of records, which is created if there is none. Throws if it cannot be used. */
export function openRecordFile(options: RecordFileOptions): RecordFile {
  const { path, keys, maxPages = null } = options;
  const codec = newRowCodec(keys);
  const database = openDatabase({ path, synchronous: "normal", maxPages }, RECORD_TABLES);
  let settings: RecordSettings = options;
  // Made with the first record, because a file that is only read masks nothing.
  let mask: RecordMask | undefined;
  const makers = newMakers();
  let seq = lastNumber(database);
  let count = countRecords(database);
  let read: { readonly seq: number; readonly bodies: RowBodies } | null = null;

  function inTransaction(task: () => void): void {
    database.change("begin immediate");
    try {
      task();
      database.change("commit");
    } catch (error) {
      rollBack(database);
      throw error;
    }
  }

  function insert(rows: readonly SealedRow[]): void {
    database.checkFile();
    const sizes = rows.map(({ head, body }) => head.length + (body?.length ?? 0));
    const before = count;
    try {
      inTransaction(() => {
        const needed = sizes.reduce((sum, size) => sum + size + MARGIN_BYTES, 0);
        count -= makeRoom(database, settings.maxBytes - needed);
        for (const [index, row] of rows.entries()) {
          const { seq, at, head, body, records } = row;
          count += recordsIn(row);
          database.change(
            "insert into record (seq, at, bytes, head, body, records) values (?, ?, ?, ?, ?, ?)",
            ...[seq, at, sizes[index] ?? 0, head, body, records],
          );
        }
      });
    } catch (error) {
      count = before;
      throw error;
    }
    seq = rows.at(-1)?.seq ?? seq;
  }

  /** Inserts rows. On a full disk the oldest ones make room, once. */
  function insertOrRelieve(rows: readonly SealedRow[]): void {
    try {
      insert(rows);
    } catch (error) {
      if (problemOf(error) !== "full") throw error;
      count -= relieve(database);
      insert(rows);
    }
  }

  function expire(now: number): void {
    count -= deleteOlder(database, now - settings.keepMs);
    count -= makeRoom(database, settings.maxBytes);
    shrink(database, settings.maxBytes);
  }

  function totals(): RecordTotals {
    return { records: count, bytes: usedBytes(database), ...timesOf(database) };
  }

  /** Returns the content of a row, which is kept until another one is read. */
  function readBodies(seq: number): RowBodies {
    if (read?.seq === seq) return read.bodies;
    let bodies: RowBodies = () => null;
    try {
      const row = database.row("select seq, body, records from record where seq = ?", seq);
      if (row !== undefined) bodies = codec.bodies(row);
    } catch {
      // A damaged page takes the content of its row, and ends no search.
    }
    read = { seq, bodies };
    return bodies;
  }

  function scan(request: ScanRequest): ScanResult | null {
    try {
      const result = scanRows(request);
      // The next part of the search may go on in the same row.
      if (result.next === null) read = null;
      return result;
    } catch {
      return null;
    }
  }

  function scanRows({ filter, before, limit, withContent }: ScanRequest): ScanResult {
    const matcher = newMatcher(filter);
    const maxChars = filter.regex === undefined ? MAX_SLICE_CHARS : MAX_PATTERN_CHARS;
    const { since = 0, until = MAX_TIME_MS } = filter;
    const rows = database.rows(
      `select seq, at, records, head from record where seq < ? and at between ? and ?
       order by seq desc limit ${MAX_SLICE_ROWS}`,
      before === null ? Number.MAX_SAFE_INTEGER : before + MAX_ROW_RECORDS - 1,
      since - MAX_ROW_SPREAD_MS,
      until,
    );
    const hits: Hit[] = [];
    let chars = 0;
    let closed = 0;
    for (const row of rows) {
      const seq = integerOf(row, "seq");
      const heads = codec.heads(row);
      for (let index = recordsIn(row) - 1; index >= 0; index--) {
        const number = numberOf(row, index);
        if (before !== null && number >= before) continue;
        const unreadable = (keyNumber: number | null) =>
          hits.push({ seq: number, at: integerOf(row, "at"), keyNumber });
        const stored = typeof heads === "object" ? heads?.[index] : undefined;
        if (stored === undefined) {
          if (matcher.showsUnreadable) unreadable(typeof heads === "number" ? heads : null);
          else closed++;
        } else if (stored.at >= since && stored.at <= until && matcher.head(stored)) {
          const opened = matcher.body !== null || withContent ? readBodies(seq)(index) : null;
          chars += opened?.chars ?? 0;
          const excerpt = opened === null ? null : matcher.body?.(opened.body) ?? null;
          if (opened === null && withContent) unreadable(null);
          else if (opened === null && matcher.body !== null) closed++;
          else if (matcher.body === null || excerpt !== null) {
            const content = withContent ? opened?.body ?? {} : {};
            hits.push({ seq: number, record: newRecord(stored, content), excerpt });
          }
        }
        if (hits.length >= limit || chars > maxChars) {
          return { hits, next: number, closed };
        }
      }
    }
    const last = rows.length < MAX_SLICE_ROWS ? undefined : rows.at(-1);
    return { hits, next: last === undefined ? null : numberOf(last, 0), closed };
  }

  return {
    write(records, now) {
      const masking = mask ??= newRecordMask(settings.policy, () => performance.now());
      const prepared = records.flatMap((one) => prepareRecord(one, masking, makers) ?? []);
      const unredacted = records.length - prepared.length;
      const heads = prepared.filter(({ body }) => body === null).length;
      const rows = codec.seal(seq + 1, prepared);
      try {
        insertOrRelieve(rows);
      } catch (error) {
        return { ok: false, problem: problemOf(error) };
      }
      try {
        expire(now);
      } catch {
        // The records are in the file; the next write reports what is wrong with the disk.
      }
      return { ok: true, all: prepared.length - heads, heads, unredacted, totals: totals() };
    },
    expire(now) {
      expire(now);
      return totals();
    },
    scan,
    info() {
      const unreadable: Record<string, number> = {};
      let readable = 0, { newest } = totals();
      for (let before = Number.MAX_SAFE_INTEGER;;) {
        const rows = database.rows(
          `select seq, at, records, head from record where seq < ? order by seq desc
           limit ${MAX_SLICE_ROWS}`,
          before,
        );
        for (const row of rows) {
          const heads = codec.heads(row);
          if (typeof heads === "object" && heads !== null) {
            readable += heads.length;
            // The time of a row is that of its oldest record.
            newest = Math.max(newest ?? 0, ...heads.map(({ at }) => at));
          } else unreadable[heads ?? "?"] = (unreadable[heads ?? "?"] ?? 0) + recordsIn(row);
        }
        const last = rows.at(-1);
        if (last === undefined) return { ...totals(), newest, readable, unreadable };
        before = integerOf(last, "seq");
      }
    },
    totals,
    apply(next) {
      settings = next;
      mask = undefined;
    },
    close: () => database.close(),
  };
}

function newRecord({ id, at, head }: StoredHead, content: StoredBody): CallRecord {
  return { format: RECORD_FORMAT, id, at: new Date(at).toISOString(), head, ...content };
}

/** Returns the number of the record at an index of a row. */
function numberOf(row: Row, index: number): number {
  return integerOf(row, "seq") - recordsIn(row) + 1 + index;
}

function lastNumber(database: Database): number {
  const row = database.row("select seq from sqlite_sequence where name = 'record'");
  return row === undefined ? 0 : integerOf(row, "seq");
}

function countRecords(database: Database): number {
  return readNumber(database, "select coalesce(sum(coalesce(records, 1)), 0) from record");
}

function timesOf(database: Database): Pick<RecordTotals, "oldest" | "newest"> {
  const row = database.row(
    "select (select min(at) from record) as oldest, (select max(at) from record) as newest",
  );
  if (row === undefined || row.oldest === null) return { oldest: null, newest: null };
  return { oldest: integerOf(row, "oldest"), newest: integerOf(row, "newest") };
}
