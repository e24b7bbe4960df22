import type { Refusal } from "../../core/failure/failure.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { Failed } from "../../core/failure/result.ts";
import { type Optional, unsupported } from "../../prompt/refusals.ts";

const TYPES: readonly Optional[] = [
  "object",
  "array",
  "string",
  "number",
  "integer",
  "boolean",
  "null",
];

/** Returns the refusal of a part of a strict schema that cannot be checked. */
export function refused(path: string, why: string): Failed<Refusal> {
  return unsupported(path, `${why} Or send 'strict: false'.`);
}

/**
 * Returns the refusal of an object schema that leaves a property optional or open; null if it is
 * closed.
 */
export function objectProblem(cleaned: JsonObject, path: string): Failed<Refusal> | null {
  const { properties, required = [], additionalProperties } = cleaned;
  if (!hasType(cleaned, "object")) {
    const stray = ["properties", "required", "additionalProperties"]
      .find((key) => cleaned[key] !== undefined);
    return stray === undefined ? null : refused(`${path}.${stray}`, "It needs 'type: object'.");
  }
  if (additionalProperties !== false) {
    return refused(`${path}.additionalProperties`, "It must be false in each object.");
  }
  const names = new Set(Object.keys(isObject(properties) ? properties : {}));
  const listed = new Set(Array.isArray(required) ? required : []);
  const isSame = names.size === listed.size && [...names].every((name) => listed.has(name));
  return isSame
    ? null
    : refused(`${path}.required`, "It must list each property; permit null for an optional one.");
}

/**
 * Returns the refusal of an array schema without the schema of its elements; null if it has one.
 */
export function arrayProblem(cleaned: JsonObject, path: string): Failed<Refusal> | null {
  return hasType(cleaned, "array") && cleaned.items === undefined
    ? refused(`${path}.items`, "An array of a strict schema needs it.")
    : null;
}

function hasType({ type }: JsonObject, wanted: string): boolean {
  return type === wanted || (Array.isArray(type) && type.includes(wanted));
}

/** True for a known type, or a list of different ones. */
export function isTypes(value: JsonValue): boolean {
  const list = Array.isArray(value) ? value : [value];
  return list.length > 0 && new Set(list).size === list.length &&
    list.every((type) => TYPES.includes(type));
}

/** True for a value that is neither an array nor an object. */
export function isScalar(value: JsonValue): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

/** True for a list of strings. */
export function isTexts(value: JsonValue): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
