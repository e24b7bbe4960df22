import type { JsonOutline } from "../core/stream/reply.ts";
import { invalidResponse, responseTooLarge, type Result, success } from "../core/failure/result.ts";
import { scanJson } from "../formats/json_scan.ts";
import { isTooLargeToParse, MAX_UNSCANNED_CHARS } from "../formats/parse_limits.ts";

/** Largest JSON text that is parsed if only some of its members are needed. */
const MAX_PARSED_FOR_MEMBERS_BYTES = 1024 * 1024;

/**
 * Checks a JSON text of a provider before it is parsed: a text of some MB can have millions of
 * members, of which each takes up to a hundred times its length and 2 µs. Returns the outline of a
 * text of which only the members `needed` are read, if it is large; null if the text may be parsed.
 * A short text is not scanned, and its result is there at once. Each piece of the scan waits for
 * its `turn`.
 */
export function checkJson(
  bytes: Uint8Array,
  turn: () => Promise<void> | null,
  needed?: readonly string[],
): Result<JsonOutline | null> | Promise<Result<JsonOutline | null>> {
  return bytes.length <= MAX_UNSCANNED_CHARS ? MAY_BE_PARSED : checkLong(bytes, turn, needed);
}

const MAY_BE_PARSED = success(null);

async function checkLong(
  bytes: Uint8Array,
  turn: () => Promise<void> | null,
  needed?: readonly string[],
): Promise<Result<JsonOutline | null>> {
  if (needed !== undefined && bytes.length > MAX_PARSED_FOR_MEMBERS_BYTES) {
    const scan = await scanJson(bytes, { maxSteps: Infinity, needed }, turn);
    if (scan.problem() === "too_large") return tooLarge();
    const outline = scan.outline();
    return outline !== null
      ? success(outline)
      : invalidResponse("The provider's response is not a JSON object.");
  }
  return await isTooLargeToParse(bytes, turn) ? tooLarge() : success(null);
}

function tooLarge(): Result<never> {
  return responseTooLarge("The provider's JSON is too large to be parsed.");
}
