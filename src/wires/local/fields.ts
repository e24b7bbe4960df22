import type { Refusal } from "../../core/failure.ts";
import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
  parseExact,
} from "../../core/json.ts";
import { type Failed, refuse } from "../../core/result.ts";

/** What an optional member may be: absent and null ask for nothing. */
export type Optional = JsonValue | undefined;

/** A top-level member whose numbers keep their text; undefined when it is absent or null. */
export function exactMember(document: JsonDocument, key: string): JsonValue | undefined {
  const member = document.members.find((candidate) => candidate.key === key);
  if (member === undefined) return undefined;
  return parseExact(document.text.slice(member.start, member.end)) ?? undefined;
}

/** True for a value that asks for nothing: absent, null, and lists and objects without content. */
export function isEmpty(value: Optional): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** The refusal for the first member that is neither known nor null; null when there is none. */
export function unknownMember(
  value: JsonObject,
  known: readonly string[],
  path: string,
): Failed<Refusal> | null {
  for (const key of Object.keys(value)) {
    if (known.includes(key) || (value[key] ?? null) === null) continue;
    return unsupported(`${path}.${key}`);
  }
  return null;
}

/** The refusal of a field that the local runtime has no counterpart for. */
export function unsupported(path: string, advice = ""): Failed<Refusal> {
  const text = `The local runtime cannot honour '${path}'.${advice === "" ? "" : ` ${advice}`}`;
  return refuse("unsupported_feature", text, path);
}

/** The refusal of a field of the wrong JSON type. */
export function wrongType(path: string, expected: string): Failed<Refusal> {
  return refuse("invalid_type", `'${path}' must be ${expected}.`, path);
}

/** The refusal of a field that must be there. */
export function missing(path: string): Failed<Refusal> {
  return refuse("missing_required_parameter", `'${path}' is required.`, path);
}
