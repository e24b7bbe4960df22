import {
  constants,
  deflateRawSync,
  inflateRawSync,
  zstdCompressSync,
  zstdDecompressSync,
} from "node:zlib";
import { concatBytes } from "../core/concat_bytes.ts";
import { isObject, parseJson } from "../core/json/json.ts";
import { integerOf, recordOf, type Row } from "../store/sqlite/database.ts";
import type { PreparedRecord } from "./prepare_record.ts";
import { newSealer } from "./seal.ts";
import { MAX_ROW_RECORDS, MAX_ROW_SPREAD_MS } from "./tables.ts";
import type { StoredBody, StoredHead } from "./written_record.ts";

/** A row of the file: records that were written together, compressed and sealed together. */
export interface SealedRow {
  /** Number of the last record; those before it have the numbers before. */
  readonly seq: number;
  /** Unix time in milliseconds at which the first of the calls began. */
  readonly at: number;
  /** Null for one record alone. */
  readonly records: number | null;
  readonly head: Uint8Array<ArrayBuffer>;
  /** Null if no record has content. */
  readonly body: Uint8Array<ArrayBuffer> | null;
}

/** The content of a record, and the number of its characters. */
export interface OpenedBody {
  readonly body: StoredBody;
  readonly chars: number;
}

/** Returns the content of the record at an index of a row; null if it cannot be read. */
export type RowBodies = (index: number) => OpenedBody | null;

/** Seals rows and opens them. */
export interface RowCodec {
  /** Returns the rows of records whose numbers begin with `first`. */
  seal(first: number, records: readonly PreparedRecord[]): readonly SealedRow[];
  /** Returns the heads of a row, or the number of their key if they cannot be opened. */
  heads(row: Row): readonly StoredHead[] | number | null;
  bodies(row: Row): RowBodies;
}

/** Fast, and half as long as with deflate, because turns of one dialogue are often together. */
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const NO_BODY: OpenedBody = { body: {}, chars: 0 };

const encoder = new TextEncoder();

/** A text may begin with a byte order mark, which belongs to it. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Returns a codec; the first key seals, all open. */
export function newRowCodec(keys: readonly Uint8Array<ArrayBuffer>[]): RowCodec {
  const sealer = newSealer(keys);

  /** Returns the row of one record: without others, zstd takes longer than it saves. */
  function sealOne(seq: number, { head, body }: PreparedRecord): SealedRow {
    const bytesOf = (value: StoredHead | StoredBody) => encoder.encode(JSON.stringify(value));
    return {
      seq,
      at: head.at,
      records: null,
      head: sealer.seal("record_head", seq, bytesOf(head)),
      body: body === null
        ? null
        : sealer.seal("record_body", seq, deflateRawSync(bytesOf(body), { level: 1 })),
    };
  }

  function sealRow(seq: number, records: readonly PreparedRecord[]): SealedRow {
    const [first] = records;
    if (first !== undefined && records.length === 1) return sealOne(seq, first);
    const heads = records.map(({ head }) => head);
    const bodies = records.map(({ body }) => body);
    return {
      seq,
      at: beginningOf(heads),
      records: records.length,
      head: sealer.seal("record_heads", seq, compressed(encoder.encode(JSON.stringify(heads)))),
      body: bodies.every((body) => body === null)
        ? null
        : sealer.seal("record_bodies", seq, compressed(packed(bodies))),
    };
  }

  return {
    seal(first, records) {
      let seq = first - 1;
      return rowsOf(records).map((row) => sealRow(seq += row.length, row));
    },
    heads(row) {
      if (!(row.head instanceof Uint8Array)) return null;
      const isOne = row.records === null;
      const opened = sealer.open(
        isOne ? "record_head" : "record_heads",
        integerOf(row, "seq"),
        row.head,
      );
      if (!opened.ok) return opened.keyNumber;
      const read = parseJson(
        decoder.decode(isOne ? opened.bytes : zstdDecompressSync(opened.bytes)),
      );
      // The bytes are authentic, so this program has written them.
      const heads = (isOne ? [read] : read) as unknown as readonly StoredHead[];
      return heads.length === recordsIn(row) && beginningOf(heads) === row.at ? heads : null;
    },
    bodies(row) {
      if (row.body === null) return () => NO_BODY;
      const isOne = row.records === null;
      const opened = sealer.open(
        isOne ? "record_body" : "record_bodies",
        integerOf(row, "seq"),
        recordOf(row, "body"),
      );
      if (!opened.ok) return () => null;
      if (!isOne) return unpacked(zstdDecompressSync(opened.bytes));
      const text = decoder.decode(inflateRawSync(opened.bytes));
      const body = parseJson(text);
      return () => isObject(body) ? { body: body as StoredBody, chars: text.length } : null;
    },
  };
}

function compressed(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes, COMPRESSION);
}

/** Returns the number of records in a row, which is null for one alone. */
export function recordsIn({ records }: Row | SealedRow): number {
  return typeof records === "number" ? Math.min(Math.max(records, 1), MAX_ROW_RECORDS) : 1;
}

function beginningOf(heads: readonly StoredHead[]): number {
  return Math.min(...heads.map(({ at }) => at));
}

/** Divides records into rows whose calls began at about the same time: a row expires as a whole. */
function rowsOf(records: readonly PreparedRecord[]): PreparedRecord[][] {
  const rows: PreparedRecord[][] = [];
  let row: PreparedRecord[] = [];
  let [oldest, newest] = [Infinity, -Infinity];
  for (const record of records) {
    [oldest, newest] = [Math.min(oldest, record.head.at), Math.max(newest, record.head.at)];
    if (row.length === 0 || row.length === MAX_ROW_RECORDS || newest - oldest > MAX_ROW_SPREAD_MS) {
      rows.push(row = []);
      [oldest, newest] = [record.head.at, record.head.at];
    }
    row.push(record);
  }
  return rows;
}

/** The texts of a body, which are not escaped as JSON: their lengths in bytes are in its place. */
type Texts<Length> = readonly [request: Length, response: Length, events: Length];

/** A body without its texts; null for a head alone. */
type PackedBody = { readonly body: StoredBody; readonly lengths: Texts<number | null> } | null;

function textsOf({ request, response }: StoredBody): Texts<string | null> {
  return [request?.body ?? null, response?.body ?? null, response?.events ?? null];
}

function withTexts(one: StoredBody, [asked, body, events]: Texts<string | null>): StoredBody {
  const { request, response, ...rest } = one;
  return {
    ...request !== undefined && { request: { ...request, body: asked } },
    ...response !== undefined && { response: { ...response, body, events } },
    ...rest,
  };
}

const LINE_FEED_CODE = 0x0a;

/** Returns bodies as bytes: a line of JSON, and then all texts. */
function packed(bodies: readonly (StoredBody | null)[]): Uint8Array {
  const texts: Uint8Array<ArrayBuffer>[] = [];
  const lengthOf = (text: string | null) => {
    if (text === null) return null;
    const bytes = encoder.encode(text);
    texts.push(bytes);
    return bytes.length;
  };
  const entries = bodies.map((body): PackedBody => {
    if (body === null) return null;
    const [request, response, events] = textsOf(body);
    const lengths = [lengthOf(request), lengthOf(response), lengthOf(events)] as const;
    return { body: withTexts(body, [null, null, null]), lengths };
  });
  return concatBytes([encoder.encode(`${JSON.stringify(entries)}\n`), ...texts]);
}

function unpacked(bytes: Uint8Array): RowBodies {
  const end = bytes.indexOf(LINE_FEED_CODE);
  const entries = JSON.parse(decoder.decode(bytes.subarray(0, end))) as readonly PackedBody[];
  return (index) => {
    const entry = entries[index];
    if (entry === undefined) return null;
    if (entry === null) return NO_BODY;
    const before = entries.slice(0, index).flatMap((one) => one?.lengths ?? []);
    let at = before.reduce<number>((sum, length) => sum + (length ?? 0), end + 1);
    let chars = 0;
    const take = (length: number | null) => {
      if (length === null) return null;
      const text = decoder.decode(bytes.subarray(at, at += length));
      chars += text.length;
      return text;
    };
    const [request, response, events] = entry.lengths;
    const body = withTexts(entry.body, [take(request), take(response), take(events)]);
    return { body, chars };
  };
}
