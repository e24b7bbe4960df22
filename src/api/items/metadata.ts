import type { Refusal } from "../../core/failure/failure.ts";
import { isObject, type JsonValue } from "../../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../../core/failure/result.ts";

const MAX_PAIRS = 16;
const MAX_KEY_CHARS = 64;
const MAX_VALUE_CHARS = 512;

/** Parses the metadata of a resource (OpenAI API); empty if they are absent or null. */
export function parseMetadata(value: JsonValue | undefined): Result<Record<string, string>> {
  if ((value ?? null) === null) return success({});
  if (!isObject(value)) return invalid("metadata", "must be an object of texts");
  const pairs = Object.entries(value);
  if (pairs.length > MAX_PAIRS) {
    return invalid("metadata", `must have at most ${MAX_PAIRS} pairs`);
  }
  const kept: [string, string][] = [];
  for (const [key, text] of pairs) {
    if (isLonger(key, MAX_KEY_CHARS)) {
      return invalid("metadata", `must have keys of at most ${MAX_KEY_CHARS} characters`);
    }
    if (typeof text !== "string") return invalid(`metadata.${key}`, "must be a text");
    if (isLonger(text, MAX_VALUE_CHARS)) {
      return invalid(`metadata.${key}`, `must have at most ${MAX_VALUE_CHARS} characters`);
    }
    kept.push([key, text]);
  }
  return success(Object.fromEntries(kept));
}

function invalid(path: string, rule: string): Failed<Refusal> {
  return refuse("invalid_metadata", { kind: "rule", rule }, path);
}

/**
 * True if a text has more than `limit` characters. An emoji is one character, but several code
 * units.
 */
function isLonger(text: string, limit: number): boolean {
  return text.length > limit && (text.length > 2 * limit || [...text].length > limit);
}
