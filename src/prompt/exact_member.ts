import { type JsonDocument, type JsonValue, parseExact } from "../core/json/json.ts";

/** Fields that were parsed, by document: each target of a route asks for the same ones. */
const parsed = new WeakMap<JsonDocument, Map<string, JsonValue>>();

/**
 * Returns a top-level field with numbers as exact text; null if it is absent or null. The value is
 * shared and never changed.
 */
export function exactMember(document: JsonDocument, key: string): JsonValue {
  const given = document.value[key];
  if (given === undefined) return null;
  const known = parsed.get(document)?.get(key);
  if (known !== undefined) return known;
  const member = document.members.find((candidate) => candidate.key === key);
  if (member === undefined) return null;
  const value = parseExact(document.text.slice(member.start, member.end), given) ?? null;
  if (value === given) return value;
  const fields = parsed.get(document) ?? new Map<string, JsonValue>();
  parsed.set(document, fields.set(key, value));
  return value;
}
