import { deflateRawSync, inflateRawSync } from "node:zlib";
import { isObject, parseJson } from "../core/json/json.ts";
import {
  type Database,
  integerOf,
  openDatabase,
  recordOf,
  type Row,
} from "../store/sqlite/database.ts";
import { problemOf } from "../store/sqlite/errors.ts";
import type { Problem } from "../store/sqlite/problems.ts";
import { contentFacts, NO_CONTENT_FACTS } from "./content_facts.ts";
import { responseObjects } from "./events_of.ts";
import { newMatcher, type RecordFilter } from "./filter.ts";
import type { CallRecord, RecordHead } from "./record.ts";
import { RECORD_FORMAT } from "./record_format.ts";
import { redactCredentials } from "./redact_credentials.ts";
import { newSealer } from "./seal.ts";
import { RECORD_TABLES } from "./tables.ts";
import type { RecordPolicy, StoredBody, StoredHead, WrittenRecord } from "./written_record.ts";

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

/** Maximum number of rows that one statement deletes. */
const MAX_DELETED_RECORDS = 64;

/** Room for the pages that are only partly filled, per record. */
const PAGE_BYTES = 4096;

/** Share of the records that is deleted when the disk is full. */
const RELIEF_RATIO = 0.05;

/** Free pages that are given back in one step while the file is too large. */
const MAX_FREED_PAGES_COUNT = 1_000;

interface Prepared {
  readonly at: number;
  readonly head: Uint8Array;
  readonly body: Uint8Array | null;
}

const encoder = new TextEncoder(), decoder = new TextDecoder();

/** Opens the file of records, which is created if there is none. Throws if it cannot be used. */
export function openRecordFile(options: RecordFileOptions): RecordFile {
  const { path, keys, maxPages = null } = options;
  const sealer = newSealer(keys);
  const database = openDatabase({ path, synchronous: "normal", maxPages }, RECORD_TABLES);
  let settings: RecordSettings = options;
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

  function insert(records: readonly Prepared[]): void {
    database.checkFile();
    const sizes = records.map(({ head, body }) => head.length + (body?.length ?? 0) + PAGE_BYTES);
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
    const opened = sealer.open("record_head", integerOf(row, "seq"), recordOf(row, "head"));
    const head = opened.ok ? parseJson(decoder.decode(opened.bytes)) : opened.keyNumber;
    // The bytes are authentic, so this program has written them.
    return isObject(head) ? head as unknown as StoredHead : opened.ok ? null : opened.keyNumber;
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
    const rows = database.rows(
      `select seq, at, head from record where seq < ? and at between ? and ?
       order by seq desc limit ${MAX_SLICE_RECORDS}`,
      before ?? Number.MAX_SAFE_INTEGER,
      filter.since ?? 0,
      filter.until ?? Number.MAX_SAFE_INTEGER,
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
          const at = integerOf(row, "at");
          hits.push({ seq: number, record: newRecord(stored, at, content), excerpt });
        }
      }
      if (hits.length >= limit || chars > MAX_SLICE_CHARS) return { hits, next: number, chars };
    }
    const last = rows.length < MAX_SLICE_RECORDS ? undefined : rows.at(-1);
    return { hits, next: last === undefined ? null : integerOf(last, "seq"), chars };
  }

  return {
    write(records, now) {
      const prepared = records.flatMap((one) => prepare(one, settings.policy) ?? []);
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
    },
    close: () => database.close(),
  };
}

function newRecord({ id, head }: StoredHead, at: number, content: StoredBody): CallRecord {
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

/** Returns the parts of a record as they are sealed; null if masking has failed. */
function prepare(record: WrittenRecord, policy: RecordPolicy): Prepared | null {
  try {
    const { id, at, head, request, response } = redacted(record, policy);
    const asked = request?.body ? parseJson(request.body) : undefined;
    const client = isObject(asked) ? asked : null;
    const facts = request === undefined
      ? NO_CONTENT_FACTS
      : contentFacts(client, responseObjects(response));
    const whole: RecordHead = { ...head, ...facts };
    const previous = client?.previous_response_id;
    const body: StoredBody | null = request === undefined ? null : {
      request,
      ...response !== undefined && { response },
      ...typeof previous === "string" && { previous: { response: previous, record: null } },
    };
    return {
      at,
      head: encoder.encode(JSON.stringify({ id, head: whole })),
      body: body === null
        ? null
        : deflateRawSync(encoder.encode(JSON.stringify(body)), { level: 1 }),
    };
  } catch {
    return null;
  }
}

/** Returns a record in which the policy has masked what it names. */
function redacted(record: WrittenRecord, policy: RecordPolicy): WrittenRecord {
  if (policy === "none") return record;
  const { request, response, ...rest } = record;
  return {
    ...rest,
    ...request !== undefined && {
      request: {
        headers: redactedValues(request.headers),
        query: redactCredentials(request.query),
        body: request.body === null ? null : redactCredentials(request.body),
      },
    },
    ...response !== undefined && {
      response: {
        headers: redactedValues(response.headers),
        body: response.body === null ? null : redactCredentials(response.body),
        events: response.events === null ? null : redactCredentials(response.events),
      },
    },
  };
}

function redactedValues(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, redactCredentials(value)]),
  );
}

/**
 * Deletes the oldest records until the rest takes at most these bytes. Returns the number of
 * deleted ones.
 */
function makeRoom(database: Database, maxBytes: number): number {
  let removed = 0;
  for (let used = usedBytes(database); used > maxBytes;) {
    const oldest = database.rows(
      `select seq, bytes from record order by seq limit ${MAX_DELETED_RECORDS}`,
    );
    if (oldest.length === 0) return removed;
    let freed = 0;
    let last = 0;
    for (const row of oldest) {
      last = integerOf(row, "seq");
      freed += integerOf(row, "bytes");
      if (freed >= used - maxBytes) break;
    }
    removed += database.change("delete from record where seq <= ?", last);
    used = usedBytes(database);
  }
  return removed;
}

/** Deletes the oldest records of a file whose disk is full. Returns the number of deleted ones. */
function relieve(database: Database, records: number): number {
  return database.change(
    "delete from record where seq in (select seq from record order by seq limit ?)",
    Math.ceil(records * RELIEF_RATIO),
  );
}

/** Gives free pages back to the disk while the file is larger than it may be. */
function shrink(database: Database, maxBytes: number): void {
  for (let free = -1;;) {
    const left = pragma(database, "freelist_count");
    if (left === free || left === 0 || fileBytes(database) <= maxBytes) return;
    free = left;
    database.rows(`pragma incremental_vacuum(${MAX_FREED_PAGES_COUNT})`);
  }
}

function fileBytes(database: Database): number {
  return pragma(database, "page_count") * PAGE_BYTES;
}

function usedBytes(database: Database): number {
  return fileBytes(database) - pragma(database, "freelist_count") * PAGE_BYTES;
}

function pragma(database: Database, name: "page_count" | "freelist_count"): number {
  const row = database.row(`pragma ${name}`);
  return row === undefined ? 0 : integerOf(row, name);
}

function lastNumber(database: Database): number {
  const row = database.row("select seq from sqlite_sequence where name = 'record'");
  return row === undefined ? 0 : integerOf(row, "seq");
}

function countRecords(database: Database): number {
  const row = database.row("select count(*) as records from record");
  return row === undefined ? 0 : integerOf(row, "records");
}

function timesOf(database: Database): Pick<RecordTotals, "oldest" | "newest"> {
  const row = database.row(
    "select (select min(at) from record) as oldest, (select max(at) from record) as newest",
  );
  if (row === undefined || row.oldest === null) return { oldest: null, newest: null };
  return { oldest: integerOf(row, "oldest"), newest: integerOf(row, "newest") };
}

function rollBack(database: Database): void {
  try {
    database.change("rollback");
  } catch {
    // After some errors SQLite has rolled back already, and there is no transaction.
  }
}
