import type { Usage } from "../core/stream/events.ts";
import type { StreamRecord } from "../core/stream/reply.ts";
import { isObject, parseJson } from "../core/json/json.ts";
import {
  MAX_SCANNED_CHARS,
  MAX_START_CHARS,
  streamedTextBytes,
  type TextMember,
} from "../access/written_text.ts";
import { MAX_UNSCANNED_CHARS } from "../formats/parse_limits.ts";
import { hasLastOutput, mergeUsage, reportedUsage } from "../wires/reported_usage.ts";
import type { LargeCounts, LargeCountsReader } from "./large_counts.ts";
import type { RecordReader } from "./record_reader.ts";

/**
 * End of a choice in a chunk of chat or text completions, or of a block or item of the Messages and
 * Responses APIs: the last one precedes the counts.
 */
const PART_END =
  /"finish_reason"\s*:\s*"[^"]|"type"\s*:\s*"(?:content_block_stop|response\.[a-z_.]+\.done)"/;

/** Types of the last events of a stream. */
const STREAM_ENDS = [
  "message_stop",
  "response.completed",
  "response.incomplete",
  "response.failed",
  "response.cancelled",
  "response.canceled",
];

/** A member of the last record of a stream, which may also be within it. */
const STREAM_END = new RegExp(`"type"\\s*:\\s*"(?:${STREAM_ENDS.join("|")})"|"done"\\s*:\\s*true`);

/** Largest record that is read for its counts: as large as a whole response. */
const MAX_READ_BYTES = 64 * 1024 * 1024;

/** True for a record with the end of a part; a long one has it near its start or its end. */
function endsPart(data: string): boolean {
  return data.length <= MAX_SCANNED_CHARS
    ? PART_END.test(data)
    : [data.slice(0, MAX_START_CHARS), data.slice(-MAX_START_CHARS)].some((one) =>
      PART_END.test(one)
    );
}

/**
 * Returns the watch for the end of the text in a stream, after which its token counts may follow
 * soon. `member` is that of its text. What is neither text nor counts, such as a ping or the result
 * of a filter, changes nothing.
 */
export function newTextEnd(member?: TextMember) {
  let isEnded = false;
  return {
    read(records: readonly StreamRecord[]): void {
      for (const { data } of records) {
        if (endsPart(data)) isEnded = true;
        else if (isEnded && streamedTextBytes(data, member) > 0) isEnded = false;
      }
    },
    /** True if the text has ended and `known` are not its last counts. */
    areCountsAwaited: (known: Usage | null): boolean => isEnded && !hasLastOutput(known),
  };
}

/**
 * Returns the counts of a stream with those in its latest records, which its translation may have
 * refused, and the bytes of text in the longest of them, of those with more than `countedChars`.
 * Only short ones are parsed at once.
 */
export async function withLatest(
  known: Usage | null,
  source: RecordReader,
  largeCounts: LargeCountsReader,
  countedChars: number,
): Promise<LargeCounts> {
  let usage = known;
  let textBytes = 0;
  for (const { data } of source.latest()) {
    if (data.length <= MAX_UNSCANNED_CHARS) {
      usage = mergeUsage(usage, countsIn(data));
      continue;
    }
    const large = await largeCounts(data);
    usage = mergeUsage(usage, large.usage);
    if (data.length > countedChars) textBytes = Math.max(textBytes, large.textBytes);
  }
  return { usage, textBytes };
}

/** True for the last record of a stream, after which a provider may keep its connection open. */
export function isStreamEnd({ data }: StreamRecord): boolean {
  if (data === "[DONE]") return true;
  if (!STREAM_END.test(data.slice(0, MAX_START_CHARS))) return false;
  if (data.length > MAX_UNSCANNED_CHARS) return true;
  const value = parseJson(data);
  return isObject(value) &&
    (value.done === true || STREAM_ENDS.some((type) => type === value.type));
}

/** Returns the counts in a short record; null for a long one, which is not parsed at once. */
function countsIn(data: string): Usage | null {
  if (data.length > MAX_UNSCANNED_CHARS) return null;
  const mayCount = data.includes("usage") || data.includes("eval_count");
  return mayCount ? reportedUsage(parseJson(data)) : null;
}

/**
 * Reads a stream to its last record without a translation, and returns the same of all of them.
 * `onRead` is called with them, so that their text is counted. One above 1 MiB that is cut off is
 * all text. `countedChars` is of the records before.
 */
export async function readCounts(
  known: Usage | null,
  source: RecordReader,
  largeCounts: LargeCountsReader,
  countedChars: number,
  onRead: (records: readonly StreamRecord[]) => void,
): Promise<LargeCounts> {
  source.readOn(MAX_READ_BYTES);
  let { usage, textBytes } = await withLatest(known, source, largeCounts, countedChars);
  for (;;) {
    const before = source.latest();
    if (before.some(isStreamEnd)) return { usage, textBytes };
    const group = await source.next();
    // The end of a body without records makes one of all its text.
    if (source.latest() !== before) {
      const latest = await withLatest(usage, source, largeCounts, Infinity);
      usage = latest.usage;
      textBytes = Math.max(textBytes, latest.textBytes);
    }
    if (!group.ok || group.value === null) {
      const cutChars = source.unfinishedChars();
      return {
        usage,
        textBytes: cutChars > MAX_SCANNED_CHARS ? Math.max(textBytes, cutChars) : textBytes,
      };
    }
    onRead(group.value);
  }
}
