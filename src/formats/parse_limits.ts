import { atOnce } from "../core/at_once.ts";
import { isObject, parseJson } from "../core/json/json.ts";
import { scanJson, type ScanProblem, scanSteps } from "./json_scan.ts";
import { utf8Bytes } from "./utf8.ts";

/**
 * Maximum number of steps for parsing one JSON text of a provider: 0.1 s and 50 MB. A response of
 * 4,000 tokens with the 20 most likely ones for each takes 1.7 million.
 */
export const MAX_PARSE_STEPS = 2_000_000;

/** Length of a JSON text up to which it is parsed without a scan. */
export const MAX_UNSCANNED_CHARS = 64 * 1024;

/** Largest JSON text that is parsed: the longest text in it takes 0.1 s. */
const MAX_PARSED_BYTES = 16 * 1024 * 1024;

/**
 * Returns why a text is not parsed: it is no JSON, or too large. Null if it may be parsed,
 * undefined if that is not known because it is short. Each piece of the scan waits for its `turn`.
 */
export async function parseProblem(
  bytes: Uint8Array,
  turn: () => Promise<void> | null,
  maxSteps = MAX_PARSE_STEPS,
): Promise<ScanProblem | null | undefined> {
  if (bytes.length <= MAX_UNSCANNED_CHARS) return undefined;
  const problem = (await scanJson(bytes, { maxSteps }, turn)).problem();
  return problem === null && bytes.length > MAX_PARSED_BYTES ? "too_large" : problem;
}

/**
 * True if a JSON text is too large to be parsed in this many steps. A text that is no JSON is not:
 * its reader refuses it, or needs none. Each piece of the scan waits for its `turn`.
 */
export async function isTooLargeToParse(
  bytes: Uint8Array,
  turn: () => Promise<void> | null,
  maxSteps = MAX_PARSE_STEPS,
): Promise<boolean> {
  return await parseProblem(bytes, turn, maxSteps) === "too_large";
}

/**
 * True if JSON texts that are parsed together, such as the arguments of all calls of a response,
 * are too large for it. Texts that are no JSON are not.
 */
export function areTooLarge(texts: readonly string[]): boolean {
  return atOnce(tooLargeSteps(...texts));
}

/** The same, which can be interrupted. */
export function* tooLargeSteps(...texts: readonly string[]): Generator<void, boolean, void> {
  if (texts.reduce((sum, { length }) => sum + length, 0) <= MAX_UNSCANNED_CHARS) return false;
  let maxSteps = MAX_PARSE_STEPS;
  for (const text of texts) {
    const scan = yield* scanSteps(utf8Bytes(text), { maxSteps });
    if (scan.problem() === "too_large") return true;
    maxSteps -= scan.steps();
  }
  return false;
}

/** True if a text is a JSON object, and not too large to be parsed. */
export function isJsonObject(text: string): boolean {
  return !areTooLarge([text]) && isObject(parseJson(text));
}
