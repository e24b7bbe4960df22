import { type JsonDocument, type JsonValue, parseExact } from "../core/json/json.ts";

/** Returns a top-level field with numbers as exact text; null if it is absent or null. */
export function exactMember(document: JsonDocument, key: string): JsonValue {
  if (document.value[key] === undefined) return null;
  const member = document.members.find((candidate) => candidate.key === key);
  if (member === undefined) return null;
  return parseExact(document.text.slice(member.start, member.end), document.value[key]) ?? null;
}
