import { type JsonObject, type JsonValue, parseJson } from "../core/json/json.ts";
import type { Usage } from "../core/stream/events.ts";
import { type JsonScan, newJsonScan } from "../formats/json_scan.ts";
import { utf8Steps } from "../formats/utf8.ts";
import { reportedUsage } from "../wires/reported_usage.ts";
import type { BodyReader } from "./body.ts";

/** Members with token counts. */
const COUNTS = ["usage", "prompt_eval_count", "eval_count"] as const;

/** Members that may be large and hold `usage`. */
const HOLDERS = ["response", "message"] as const;

/** Largest member with counts. */
const MAX_COUNTS_BYTES = 64 * 1024;

/**
 * Maximum number of steps, as they are counted for parsing, in which the large texts of one attempt
 * are read for counts: up to 0.5 s. A response of 4,000 tokens with the 20 most likely ones for
 * each takes 1.7 million, and twice as many within an event.
 */
const MAX_STEPS = 16_000_000;

const OPEN_OBJECT = 123;

/** Counts of an answer that is too large to be parsed. */
export interface LargeCounts {
  /** Null if the provider reports none. */
  readonly usage: Usage | null;
  /** Bytes of the strings in it, for an estimate. */
  readonly textBytes: number;
}

/** Reads the counts in a JSON text, or in UTF-8 bytes of one. */
export type LargeCountsReader = (text: string | Uint8Array) => Promise<LargeCounts>;

/**
 * Returns the reader of the counts in texts of one attempt that are too large to be parsed, also in
 * those of which only the beginning is known. Counts behind more than `MAX_LEVELS` levels are not
 * found, nor those behind `MAX_STEPS` of all texts. Each piece waits for its turn, and the last one
 * is that after which the body is read no more.
 */
export function newLargeCounts(
  { turn, isOver }: Pick<BodyReader, "turn" | "isOver">,
): LargeCountsReader {
  let stepsLeft = MAX_STEPS;

  /** Waits for the turn of the next piece. False if nothing needs it. */
  async function goOn(): Promise<boolean> {
    await turn();
    return !isOver();
  }

  async function bytesOf(text: string): Promise<Uint8Array> {
    const encoding = utf8Steps(text);
    while (await goOn()) {
      const step = encoding.next();
      if (step.done === true) return step.value;
    }
    return new Uint8Array(0);
  }

  async function scanned(bytes: Uint8Array, needed: readonly string[]): Promise<JsonScan> {
    const scan = newJsonScan(bytes, { maxSteps: stepsLeft, needed });
    while (await goOn() && !scan.next());
    stepsLeft -= scan.steps();
    return scan;
  }

  return async (text) => {
    const bytes = typeof text === "string" ? await bytesOf(text) : text;
    const scan = await scanned(bytes, [...COUNTS, ...HOLDERS]);
    const value = countsIn(scan, bytes);
    for (const name of HOLDERS) {
      const holder = scan.member(name);
      if (holder?.[0] === OPEN_OBJECT) {
        value[name] = countsIn(await scanned(holder, ["usage"]), holder);
      }
    }
    return { usage: reportedUsage(value), textBytes: scan.stringBytes() };
  };
}

function countsIn(scan: JsonScan, bytes: Uint8Array): JsonObject {
  const value: JsonObject = {};
  for (const name of COUNTS) {
    const text = scan.member(name);
    if (text === null || text.length > MAX_COUNTS_BYTES) continue;
    const isLast = text.byteOffset + text.length === bytes.byteOffset + bytes.length;
    const written = new TextDecoder().decode(text);
    const counts = isLast ? parseCut(written) : parseJson(written);
    if (counts !== undefined) value[name] = counts;
  }
  return value;
}

/**
 * Returns the counts of a text that may break off; undefined for none. A number at its end may lack
 * digits.
 */
function parseCut(text: string): JsonValue | undefined {
  const whole = parseJson(text);
  if (whole !== undefined) return typeof whole === "number" ? undefined : whole;
  const known = text.slice(0, Math.max(0, text.lastIndexOf(",")));
  const depth = known.split("{").length - known.split("}").length;
  return depth < 0 ? undefined : parseJson(known + "}".repeat(depth));
}
