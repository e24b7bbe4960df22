import { type JsonObject, parseJson } from "../core/json/json.ts";
import type { Usage } from "../core/stream/events.ts";
import { type JsonScan, scanJson } from "../formats/json_scan.ts";
import { reportedUsage } from "../wires/reported_usage.ts";

/** Members with token counts. */
const COUNTS = ["usage", "prompt_eval_count", "eval_count"] as const;

/** Members that may be large and hold `usage`. */
const HOLDERS = ["response", "message"] as const;

/** Largest member with counts. */
const MAX_COUNTS_BYTES = 64 * 1024;

/** Counts of an answer that is too large to be parsed. */
export interface LargeCounts {
  /** Null if the provider reports none. */
  readonly usage: Usage | null;
  /** Bytes of the strings in it, for an estimate. */
  readonly textBytes: number;
}

/**
 * Reads the counts in a JSON text that is too large to be parsed, also in one of which only the
 * beginning is known. Counts behind more than `MAX_LEVELS` levels are not found. Each piece of the
 * scan waits for its `turn`.
 */
export async function largeCounts(
  bytes: Uint8Array,
  turn: () => Promise<void> | null,
): Promise<LargeCounts> {
  const find = (text: Uint8Array, needed: readonly string[]) =>
    scanJson(text, { maxSteps: Infinity, needed }, turn);
  const scan = await find(bytes, [...COUNTS, ...HOLDERS]);
  const value: JsonObject = countsIn(scan);
  for (const name of HOLDERS) {
    const holder = scan.member(name);
    if (holder !== null) value[name] = countsIn(await find(holder, ["usage"]));
  }
  return { usage: reportedUsage(value), textBytes: scan.stringBytes() };
}

function countsIn(scan: JsonScan): JsonObject {
  const value: JsonObject = {};
  for (const name of COUNTS) {
    const text = scan.member(name);
    if (text === null || text.length > MAX_COUNTS_BYTES) continue;
    const counts = parseJson(new TextDecoder().decode(text));
    if (counts !== undefined) value[name] = counts;
  }
  return value;
}
