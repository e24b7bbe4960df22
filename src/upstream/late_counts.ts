import type { Usage } from "../core/events.ts";
import { parseJson } from "../core/json/json.ts";
import { mergeUsage, reportedUsage } from "../wires/reported_usage.ts";
import type { RecordReader } from "./record_reader.ts";

/** End of a choice in a chunk of chat or text completions, which precedes the counts. */
const FINISH = /"finish_reason"\s*:\s*"/;

/** Longest record that is parsed for its counts once more: the parse of any text has a bound. */
const MAX_PARSED_CHARS = 1024 * 1024;

/** True if the latest records of a stream end a choice, so that its token counts follow soon. */
export function isFinishing(source: RecordReader): boolean {
  return source.latest().some(({ data }) => FINISH.test(data));
}

/** Returns the counts of a stream with those in its latest records, which its translation may have refused. */
export function withLatest(known: Usage | null, source: RecordReader): Usage | null {
  let usage = known;
  for (const { data } of source.latest()) {
    const mayCount = data.includes("usage") || data.includes("eval_count");
    if (mayCount && data.length <= MAX_PARSED_CHARS) {
      usage = mergeUsage(usage, reportedUsage(parseJson(data)));
    }
  }
  return usage;
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
