import type { Usage } from "../core/stream/events.ts";
import type { StreamRecord } from "../core/stream/reply.ts";
import { parseJson } from "../core/json/json.ts";
import { MAX_SCANNED_CHARS } from "../access/written_text.ts";
import { MAX_UNSCANNED_CHARS } from "../formats/parse_limits.ts";
import { mergeUsage, reportedUsage } from "../wires/reported_usage.ts";
import type { LargeCounts, LargeCountsReader } from "./large_counts.ts";
import type { RecordReader } from "./record_reader.ts";

/** End of a choice in a chunk of chat or text completions, which precedes the counts. */
const FINISH = /"finish_reason"\s*:\s*"/;

/**
 * End of a block or item of the Messages and Responses APIs, of which the last one precedes the
 * counts.
 */
const ITEM_END = /"type"\s*:\s*"(?:content_block_stop|response\.[a-z_.]+\.done)"/;

/** Largest record that is read for its counts: as large as a whole response. */
const MAX_READ_BYTES = 64 * 1024 * 1024;

/**
 * True if the latest records of a stream end a choice or an item, so that its token counts may
 * follow soon.
 */
export function areCountsAwaited(source: RecordReader, known: Usage | null): boolean {
  const latest = source.latest();
  if (known === null && latest.some(({ data }) => FINISH.test(data))) return true;
  const end = latest.findLastIndex(({ data }) => ITEM_END.test(data));
  return end >= 0 && latest.slice(end + 1).every(({ data }) => countsIn(data) === null);
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

/** Returns the counts in a short record; null for a long one, which is not parsed at once. */
function countsIn(data: string): Usage | null {
  if (data.length > MAX_UNSCANNED_CHARS) return null;
  const mayCount = data.includes("usage") || data.includes("eval_count");
  return mayCount ? reportedUsage(parseJson(data)) : null;
}

/**
 * Reads a stream to its end without a translation, and returns the same of all its records.
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
    if (before.some(({ data }) => data === "[DONE]")) return { usage, textBytes };
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
