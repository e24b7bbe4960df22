import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";

/** Place of the text of a record. */
export interface RecordPlace {
  readonly start: number;
  readonly length: number;
}

/** Facts of a record before it is read. */
export interface RecordEntry extends RecordPlace {
  readonly id: string;
  readonly at: string;
  /** True if it may continue another record, or be continued: such ones are replayed in order. */
  readonly isChained: boolean;
}

/** Records to replay. */
export interface RecordSet {
  /** By time, then ID. */
  readonly entries: readonly RecordEntry[];
  /** IDs of the responses that requests of the set continue. */
  readonly continued: ReadonlySet<string>;
  /** Returns the text of a record. */
  textOf(entry: RecordEntry): string;
}

/** Which records of a file are replayed. */
export interface ReplayFilter {
  /** Name of the client key; null for all. */
  readonly key: string | null;
  /**
   * Returns the Unix time in milliseconds from which records are replayed, by the time of the
   * newest one.
   */
  sinceMs(newestMs: number): number;
}

/** Texts of records that are read one by one. */
export interface RecordText {
  /** Returns the places of all records. */
  places(): Iterable<RecordPlace>;
  textAt(place: RecordPlace): string;
}

/** Bytes that are read at once while lines are looked for. */
const BLOCK_BYTES = 1024 * 1024;

const LINE_FEED_CODE = 0x0a, CARRIAGE_RETURN_CODE = 0x0d;

/** Maximum number of records that are replayed together: the places of all are in memory. */
export const MAX_SET_RECORDS = 1_000_000;

/** Maximum length of the text of a record: both bodies, each character as its longest escape. */
const MAX_RECORD_BYTES = 16 * 1024 * 1024;

/** Result of the first look at a record. */
interface FoundRecord extends Omit<RecordEntry, "isChained"> {
  readonly key: string | null;
  /** False for a text that is no record, and may be of any key. */
  readonly hasHead: boolean;
  /** ID of the response that it continues. */
  readonly previous: string | null;
  readonly isResponses: boolean;
  readonly hasConversation: boolean;
}

/**
 * Finds the records of exported lines. Only their places stay in memory. If there are more than
 * `max`, returns a sentence that says so.
 */
export function newRecordSet(
  text: RecordText,
  filter: ReplayFilter,
  max = MAX_SET_RECORDS,
): RecordSet | string {
  const found: FoundRecord[] = [];
  // A longer text is no record, and would take the memory.
  const textOf = (place: RecordPlace) => place.length > MAX_RECORD_BYTES ? "" : text.textAt(place);
  for (const place of text.places()) {
    if (found.length === max) {
      return `There are more than ${max.toLocaleString("en")} records; replay them in parts.`;
    }
    const { id = "", at = "", head = null, previous = null } = lightly(textOf(place));
    found.push({
      id: typeof id === "string" ? id : "",
      at: typeof at === "string" ? at : "",
      key: isObject(head) && typeof head.key === "string" ? head.key : null,
      hasHead: isObject(head),
      isResponses: isObject(head) && head.api === "responses",
      hasConversation: isObject(head) && typeof head.conversation_items === "number",
      previous: isObject(previous) && typeof previous.response === "string"
        ? previous.response
        : null,
      ...place,
    });
  }
  const newest = found.reduce((last, { at }) => at > last && isTime(at) ? at : last, "");
  const since = filter.sinceMs(Date.parse(newest));
  const kept = found.filter(({ at, key, hasHead }) =>
    (filter.key === null || key === filter.key || !hasHead) && !(Date.parse(at) < since)
  );

  const continued = new Set(kept.flatMap(({ previous }) => previous ?? []));
  const isChain = continued.size > 0 || kept.some(({ hasConversation }) => hasConversation);

  return {
    entries: kept.map((one) => ({ ...one, isChained: isChain && one.isResponses })).toSorted((
      one,
      other,
    ) =>
      compareTexts(one.at, other.at) || compareTexts(one.id, other.id) || one.start - other.start
    ),
    continued,
    textOf,
  };
}

/** True for a time as records have it; a text that cannot be read has any. */
function isTime(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text;
}

function lightly(line: string): JsonObject {
  const value = parseJson(line);
  return isObject(value) ? value : {};
}

/** By code units, so that no locale changes the order. */
function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * Yields the places of the lines of a text that are not blank. `readInto` reads the bytes from a
 * place on into a buffer, and returns their number: 0 at the end.
 */
export function* placesIn(
  readInto: (buffer: Uint8Array, start: number) => number,
): Generator<RecordPlace> {
  const block = new Uint8Array(BLOCK_BYTES);
  let start = 0;
  let at = 0;
  /** The byte before the end of a line or of the text. */
  let last = 0;
  const isBlank = (length: number) =>
    length === 0 || (length === 1 && last === CARRIAGE_RETURN_CODE);
  for (;;) {
    const count = readInto(block, at);
    if (count === 0) break;
    for (let from = 0;;) {
      const end = block.subarray(0, count).indexOf(LINE_FEED_CODE, from);
      last = block[(end < 0 ? count : end) - 1] ?? last;
      if (end < 0) break;
      const length = at + end - start;
      if (!isBlank(length)) yield { start, length };
      start = at + end + 1;
      from = end + 1;
    }
    at += count;
  }
  if (!isBlank(at - start)) yield { start, length: at - start };
}
