import type { Refusal } from "../core/failure.ts";
import { isObject, type JsonValue } from "../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../core/result.ts";

const MOST_PAIRS = 16;
const LONGEST_KEY = 64;
const LONGEST_VALUE = 512;

/** Metadata that may be kept (OpenAI API); none when they are absent or null. */
export function metadataOf(value: JsonValue | undefined): Result<Record<string, string>> {
  if ((value ?? null) === null) return success({});
  if (!isObject(value)) return invalid("metadata", "must be an object of texts");
  const pairs = Object.entries(value);
  if (pairs.length > MOST_PAIRS) {
    return invalid("metadata", `must have at most ${MOST_PAIRS} pairs`);
  }
  const kept: [string, string][] = [];
  for (const [key, text] of pairs) {
    if (isLonger(key, LONGEST_KEY)) {
      return invalid("metadata", `must have keys of at most ${LONGEST_KEY} characters`);
    }
    if (typeof text !== "string") return invalid(`metadata.${key}`, "must be a text");
    if (isLonger(text, LONGEST_VALUE)) {
      return invalid(`metadata.${key}`, `must have at most ${LONGEST_VALUE} characters`);
    }
    kept.push([key, text]);
  }
  return success(Object.fromEntries(kept));
}

function invalid(path: string, rule: string): Failed<Refusal> {
  return refuse("invalid_metadata", `'${path}' ${rule}.`, path);
}

/** Characters are not code units: an emoji is one. */
function isLonger(text: string, limit: number): boolean {
  return text.length > limit && (text.length > 2 * limit || [...text].length > limit);
}
