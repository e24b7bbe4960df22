import { atPaceOf } from "../core/at_once.ts";
import { charsOf, type StreamRecord } from "../core/stream/reply.ts";
import { invalidResponse, responseTooLarge, type Result, success } from "../core/failure/result.ts";
import type { Framing } from "../formats/framing.ts";
import { MAX_UNSCANNED_CHARS } from "../formats/parse_limits.ts";
import { isLongerThan, utf8Bytes, utf8Text, utf8TextSteps } from "../formats/utf8.ts";
import type { StreamHandler } from "../call/inference.ts";
import type { BodyReader } from "./body.ts";
import { checkJson } from "./json_bounds.ts";

/** Largest record of a stream, unless its handler takes more. */
const MAX_RECORD_BYTES = 4 * 1024 * 1024;

const LF = 0x0a, CR = 0x0d;

/** Reader of a body as whole records, in the groups in which they arrived. */
export type RecordReader = ReturnType<typeof newRecordReader>;

/** A text; null for bytes that are not UTF-8. */
type Decoded = string | null;

/** The parts of a handler that determine its records. */
type RecordLimits = Pick<StreamHandler, "maxRecordBytes" | "needed">;

/**
 * Returns a reader that splits a body into records. Bytes that are not UTF-8 are a fault, and so is
 * a record whose JSON is too large to be parsed. `onRecords` is called with each group of records
 * with data; null if nothing needs them.
 */
export function newRecordReader(
  body: Pick<BodyReader, "read" | "turn" | "turnToParse">,
  framing: Framing,
  { maxRecordBytes = MAX_RECORD_BYTES, needed }: RecordLimits = {},
  onRecords: ((records: readonly StreamRecord[]) => void) | null = null,
) {
  const tail = newByteBuffer();
  let ended = false;
  let maxBytes = maxRecordBytes;
  /** False once no record is parsed any more. */
  let isParsed = true;
  let latest: readonly StreamRecord[] = [];
  /** Characters of the record that the end of the body has cut off. */
  let cutChars = 0;
  /** Text before the first record with data: of a body that is no stream, all of it. */
  let unread = "";

  /** Decodes bytes, of more than 256 KiB in turns. */
  function textOf(bytes: Uint8Array): Decoded | Promise<Decoded> {
    return atPaceOf(() => ({ next: body.turn }), utf8TextSteps(bytes));
  }

  /** Decodes bytes up to the last line end, because no UTF-8 character spans a line end. */
  function decode(bytes: Uint8Array): Decoded | Promise<Decoded> {
    // Nearly every read ends with a record. A search backwards for a CR would cost 8 % of the work
    // of a stream.
    if (tail.length() === 0 && bytes.at(-1) === LF) return utf8Text(bytes);
    const cut = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1;
    if (cut === 0) {
      tail.add(bytes);
      return "";
    }
    const lines = bytes.subarray(0, cut);
    const whole = tail.length() === 0 ? lines : tail.takeWith(lines);
    tail.add(bytes.subarray(cut));
    return textOf(whole);
  }

  function checked(records: readonly StreamRecord[]): Result<readonly StreamRecord[]> {
    const isTooLarge = framing.held() + tail.length() > maxBytes ||
      records.some((record) => isLongerThan(record.raw ?? record.data, maxBytes));
    const hasData = records.some(({ data }) => data !== "");
    if (hasData) {
      latest = records;
      unread = "";
    }
    if (isTooLarge) {
      return responseTooLarge("A record of the provider's stream is too large.");
    }
    if (hasData) onRecords?.(records);
    return success(records);
  }

  /**
   * Checks the JSON of large records, which are parsed in their turn. Nearly every group has none,
   * and is returned at once.
   */
  async function bounded(
    read: Result<readonly StreamRecord[]>,
  ): Promise<Result<readonly StreamRecord[]>> {
    if (
      !read.ok || !isParsed || read.value.every(({ data }) => data.length <= MAX_UNSCANNED_CHARS)
    ) return read;
    const records: StreamRecord[] = [];
    for (const record of read.value) {
      const outline = await checkJson(utf8Bytes(record.data), body.turn, needed);
      if (!outline.ok) return outline;
      const turn = outline.value === null ? body.turnToParse(record.data.length) : null;
      if (turn !== null) await turn;
      records.push(outline.value === null ? record : { ...record, outline: outline.value });
    }
    return success(records);
  }

  function keep(text: string) {
    if (latest.length === 0 && unread.length < maxBytes) unread += text;
  }

  async function last(): Promise<Result<readonly StreamRecord[] | null>> {
    ended = true;
    const text = await textOf(tail.takeWith(new Uint8Array(0)));
    if (text === null) return notText();
    keep(text);
    const whole = framing.push(text);
    const held = framing.held();
    const rest = framing.end();
    if (rest.length === 0) cutChars = held;
    const records = await bounded(checked([...whole, ...rest]));
    if (latest.length === 0) latest = [{ event: null, data: unread, raw: null }];
    unread = "";
    return records.ok && records.value.length === 0 ? success(null) : records;
  }

  return {
    /**
     * Returns the latest group of records with data; an empty list before the first one. After the
     * end of a body without such records it is one record with all of its text.
     */
    latest: (): readonly StreamRecord[] => latest,
    /**
     * From now on the records are read for their counts only: no JSON is checked, and a record may
     * have this many bytes, also one that was too large before.
     */
    readOn(bytes: number): void {
      maxBytes = Math.max(maxBytes, bytes);
      isParsed = false;
    },
    /** Returns the characters of the record that is unfinished, also if it will not be finished. */
    unfinishedChars: (): number => ended ? cutChars : framing.held() + tail.length(),
    /** Empties the latest records and the text without records: no token count is read any more. */
    forget(): void {
      latest = [];
      unread = "";
    },
    /** Returns the characters of the unfinished record or text, and of the latest group. */
    heldChars: (): number =>
      Math.max(framing.held(), unread.length) + tail.length() + charsOf(latest),
    /**
     * Returns the next records, at least one; null at the end. A record over the limit is a fault.
     */
    async next(): Promise<Result<readonly StreamRecord[] | null>> {
      if (ended) return success(null);
      for (;;) {
        const bytes = await body.read();
        if (!bytes.ok) return bytes;
        if (bytes.value === null) return await last();
        const decoded = decode(bytes.value);
        const text = decoded instanceof Promise ? await decoded : decoded;
        if (text === null) return notText();
        keep(text);
        const whole = checked(framing.push(text));
        const records = whole.ok && whole.value.length === 0 ? whole : await bounded(whole);
        if (!records.ok || records.value.length > 0) return records;
      }
    },
  };
}

function notText(): Result<never> {
  return invalidResponse("The provider's stream is not valid UTF-8.");
}

/**
 * Returns a buffer for an incomplete line. Its capacity doubles, so that single-byte reads stay
 * linear.
 */
function newByteBuffer() {
  let room = new Uint8Array(0);
  let length = 0;

  function add(bytes: Uint8Array) {
    if (length + bytes.length > room.length) {
      const larger = new Uint8Array(Math.max(2 * room.length, length + bytes.length));
      larger.set(room.subarray(0, length));
      room = larger;
    }
    room.set(bytes, length);
    length += bytes.length;
  }

  return {
    length: () => length,
    add,
    /** Returns the buffered bytes followed by `bytes`, and empties the buffer. */
    takeWith(bytes: Uint8Array): Uint8Array {
      add(bytes);
      const taken = room.subarray(0, length);
      room = new Uint8Array(0);
      length = 0;
      return taken;
    },
  };
}
