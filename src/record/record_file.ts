import { inflateRawSync } from "node:zlib";
import { isObject, parseJson } from "../core/json/json.ts";
import {
  type Database,
  integerOf,
  openDatabase,
  recordOf,
  rollBack,
  type Row,
} from "../store/sqlite/database.ts";
import { problemOf } from "../store/sqlite/errors.ts";
import { readNumber } from "../store/sqlite/operations/table.ts";
import { PAGE_BYTES } from "../store/sqlite/pages.ts";
import type { Problem } from "../store/sqlite/problems.ts";
import { makeRoom, MAX_DELETED_RECORDS, relieve, shrink, usedBytes } from "./file_room.ts";
import { newMatcher, type RecordFilter } from "./filter.ts";
import { type PreparedRecord, prepareRecord } from "./prepare_record.ts";
import type { CallRecord } from "./record.ts";
import { newRecordMask, type RecordMask, type RecordPolicy } from "./record_mask.ts";
import { RECORD_FORMAT } from "./record_format.ts";
import { newSealer } from "./seal.ts";
import { RECORD_TABLES } from "./tables.ts";
import type { StoredBody, StoredHead, WrittenRecord } from "./written_record.ts";

/** What a file of records is opened with. */
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
  /** Unix times in milliseconds of the oldest and the newest record; null without any. */
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

/** A part of a search. */
export interface ScanRequest {
  readonly filter: RecordFilter;
  /** Number before which the search goes on; null from the newest record on. */
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
  /** Characters of content that were looked through. */
  readonly chars: number;
}

/** What a file has, in all. */
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
  scan(request: ScanRequest): ScanResult;
  info(): RecordFileInfo;
  totals(): RecordTotals;
  apply(settings: RecordSettings): void;
  close(): void;
}

/** Records that one part of a search reads, and characters of content after which it ends. */
const MAX_SLICE_RECORDS = 500;
const MAX_SLICE_CHARS = 2 * 1024 * 1024;

/** The same of a search with a pattern, which is slower. */
const MAX_PATTERN_CHARS = 64 * 1024;

/** Room for the pages that are only partly filled, per record. */
const MARGIN_BYTES = PAGE_BYTES;

/** The last time that a date can have. */
const MAX_TIME_MS = 8.64e15;

const decoder = new TextDecoder();

/** Opens the file of records, which is created if there is none. Throws if it cannot be used. */
export function openRecordFile(options: RecordFileOptions): RecordFile {
  const { path, keys, maxPages = null } = options;
  const sealer = newSealer(keys);
  const database = openDatabase({ path, synchronous: "normal", maxPages }, RECORD_TABLES);
  let settings: RecordSettings = options;
  // Made with the first record, because a file that is only read masks nothing.
  let mask: RecordMask | null | undefined;
  let seq = lastNumber(database);
  let count = countRecords(database);

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

  function insert(records: readonly PreparedRecord[]): void {
    database.checkFile();
    const sizes = records.map(({ head, body }) => head.length + (body?.length ?? 0) + MARGIN_BYTES);
    const [first, before] = [seq, count];
    try {
      inTransaction(() => {
        const needed = sizes.reduce((sum, size) => sum + size, 0);
        count += records.length - makeRoom(database, settings.maxBytes - needed);
        for (const { at, head, body } of records) {
          seq++;
          const sealedHead = sealer.seal("record_head", seq, head);
          const sealedBody = body === null ? null : sealer.seal("record_body", seq, body);
          database.change(
            "insert into record (seq, at, bytes, head, body) values (?, ?, ?, ?, ?)",
            ...[seq, at, sealedHead.length + (sealedBody?.length ?? 0), sealedHead, sealedBody],
          );
        }
      });
    } catch (error) {
      [seq, count] = [first, before];
      throw error;
    }
  }

  function expire(now: number): void {
    const sql = `delete from record where seq in (
      select seq from record where at < ? order by at limit ${MAX_DELETED_RECORDS})`;
    for (let removed = MAX_DELETED_RECORDS; removed === MAX_DELETED_RECORDS;) {
      removed = database.change(sql, now - settings.keepMs);
      count -= removed;
    }
    count -= makeRoom(database, settings.maxBytes);
    shrink(database, settings.maxBytes);
  }

  function totals(): RecordTotals {
    return { records: count, bytes: usedBytes(database), ...timesOf(database) };
  }

  function readHead(row: Row): StoredHead | number | null {
    if (!(row.head instanceof Uint8Array)) return null;
    const opened = sealer.open("record_head", integerOf(row, "seq"), row.head);
    if (!opened.ok) return opened.keyNumber;
    const head = parseJson(decoder.decode(opened.bytes));
    // The bytes are authentic, so this program has written them.
    return isObject(head) && head.at === row.at ? head as unknown as StoredHead : null;
  }

  function readBody(number: number): { readonly body: StoredBody; readonly chars: number } | null {
    const row = database.row("select body from record where seq = ?", number);
    if (row === undefined || row.body === null) return { body: {}, chars: 0 };
    const opened = sealer.open("record_body", number, recordOf(row, "body"));
    if (!opened.ok) return null;
    const text = decoder.decode(inflateRawSync(opened.bytes));
    const body = parseJson(text);
    return isObject(body) ? { body: body as StoredBody, chars: text.length } : null;
  }

  function scan({ filter, before, limit, withContent }: ScanRequest): ScanResult {
    const matcher = newMatcher(filter);
    const maxChars = filter.regex === undefined ? MAX_SLICE_CHARS : MAX_PATTERN_CHARS;
    const rows = database.rows(
      `select seq, at, head from record where seq < ? and at between ? and ?
       order by seq desc limit ${MAX_SLICE_RECORDS}`,
      before ?? Number.MAX_SAFE_INTEGER,
      filter.since ?? 0,
      filter.until ?? MAX_TIME_MS,
    );
    const hits: Hit[] = [];
    let chars = 0;
    for (const row of rows) {
      const number = integerOf(row, "seq");
      const stored = readHead(row);
      const unreadable = (keyNumber: number | null) => {
        if (!matcher.showsUnreadable) return;
        hits.push({ seq: number, at: integerOf(row, "at"), keyNumber });
      };
      if (stored === null || typeof stored === "number") unreadable(stored);
      else if (matcher.head(stored)) {
        const read = matcher.body !== null || withContent ? readBody(number) : null;
        chars += read?.chars ?? 0;
        const excerpt = read === null ? null : matcher.body?.(read.body) ?? null;
        if (read === null && withContent) unreadable(null);
        else if (matcher.body === null || excerpt !== null) {
          const content = withContent ? read?.body ?? {} : {};
          hits.push({ seq: number, record: newRecord(stored, content), excerpt });
        }
      }
      if (hits.length >= limit || chars > maxChars) return { hits, next: number, chars };
    }
    const last = rows.length < MAX_SLICE_RECORDS ? undefined : rows.at(-1);
    return { hits, next: last === undefined ? null : integerOf(last, "seq"), chars };
  }

  return {
    write(records, now) {
      if (mask === undefined) mask = newRecordMask(settings.policy, () => performance.now());
      const masking = mask;
      const prepared = records.flatMap((one) => prepareRecord(one, masking) ?? []);
      const unredacted = records.length - prepared.length;
      const heads = prepared.filter(({ body }) => body === null).length;
      const attempt = (): Written => {
        insert(prepared);
        expire(now);
        const all = prepared.length - heads;
        return { ok: true, all, heads, unredacted, totals: totals() };
      };
      try {
        return attempt();
      } catch (error) {
        if (problemOf(error) !== "full") return { ok: false, problem: problemOf(error) };
      }
      try {
        count -= relieve(database, count);
        return attempt();
      } catch (error) {
        return { ok: false, problem: problemOf(error) };
      }
    },
    expire(now) {
      expire(now);
      return totals();
    },
    scan,
    info() {
      const unreadable: Record<string, number> = {};
      let readable = 0;
      for (let before = Number.MAX_SAFE_INTEGER;;) {
        const rows = database.rows(
          `select seq, at, head from record where seq < ? order by seq desc
           limit ${MAX_SLICE_RECORDS}`,
          before,
        );
        for (const row of rows) {
          const head = readHead(row);
          if (typeof head === "object" && head !== null) readable++;
          else unreadable[head ?? "?"] = (unreadable[head ?? "?"] ?? 0) + 1;
        }
        const last = rows.at(-1);
        if (last === undefined) return { ...totals(), readable, unreadable };
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
  const { request, response, previous } = content;
  return {
    format: RECORD_FORMAT,
    id,
    at: new Date(at).toISOString(),
    head,
    ...request !== undefined && { request },
    ...response !== undefined && { response },
    ...previous !== undefined && { previous },
  };
}

function lastNumber(database: Database): number {
  const row = database.row("select seq from sqlite_sequence where name = 'record'");
  return row === undefined ? 0 : integerOf(row, "seq");
}

function countRecords(database: Database): number {
  return readNumber(database, "select count(*) from record");
}

function timesOf(database: Database): Pick<RecordTotals, "oldest" | "newest"> {
  const row = database.row(
    "select (select min(at) from record) as oldest, (select max(at) from record) as newest",
  );
  if (row === undefined || row.oldest === null) return { oldest: null, newest: null };
  return { oldest: integerOf(row, "oldest"), newest: integerOf(row, "newest") };
}
