import type { Usage } from "../core/stream/events.ts";
import { parseJson } from "../core/json/json.ts";
import { mergeUsage, reportedUsage } from "../wires/reported_usage.ts";
import type { RecordReader } from "./record_reader.ts";

/** End of a choice in a chunk of chat or text completions, which precedes the counts. */
const FINISH = /"finish_reason"\s*:\s*"/;

/**
 * End of a block or item of the Messages and Responses APIs, of which the last one precedes the
 * counts.
 */
const ITEM_END = /"type"\s*:\s*"(?:content_block_stop|response\.[a-z_.]+\.done)"/;

/** Longest record that is parsed for its counts once more: the parse of any text has a bound. */
const MAX_PARSED_CHARS = 1024 * 1024;

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
 * refused.
 */
export function withLatest(known: Usage | null, source: RecordReader): Usage | null {
  let usage = known;
  for (const { data } of source.latest()) usage = mergeUsage(usage, countsIn(data));
  return usage;
}

function countsIn(data: string): Usage | null {
  const mayCount = data.includes("usage") || data.includes("eval_count");
  return mayCount && data.length <= MAX_PARSED_CHARS ? reportedUsage(parseJson(data)) : null;
}

/** Reads a stream to its end without a translation, and returns its counts. */
export async function readCounts(known: Usage | null, source: RecordReader): Promise<Usage | null> {
  let usage = withLatest(known, source);
  for (;;) {
    if (source.latest().some(({ data }) => data === "[DONE]")) return usage;
    const group = await source.next();
    if (!group.ok || group.value === null) return usage;
    usage = withLatest(usage, source);
  }
}
