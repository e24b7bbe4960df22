import type { Refusal } from "../core/failure/failure.ts";
import {
  isObject,
  isTooDeep,
  type JsonObject,
  type JsonValue,
  MAX_LEVELS,
  parseExact,
} from "../core/json/json.ts";
import type { Members } from "./members.ts";
import { type Failed, refuse, type Result, success } from "../core/failure/result.ts";

/** Value of an optional field. Absent and null both mean that the request does not set it. */
export type Optional = JsonValue | undefined;

/** True for a value that requests nothing: absent, null, an empty list or an empty object. */
export function isEmpty(value: Optional): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** Returns the refusal of the first unknown field that is not null. */
export function unknownMember(
  value: JsonObject,
  known: Members,
  path: string,
): Failed<Refusal> | null {
  const unknown = Object.keys(value).find((key) =>
    !known.includes(key) && (value[key] ?? null) !== null
  );
  return unknown === undefined ? null : unsupported(`${path}.${unknown}`);
}

/** Returns the refusal of a field that has no counterpart in the provider's protocol. */
export function unsupported(path: string, advice: string | null = null): Failed<Refusal> {
  return refuse("unsupported_feature", { kind: "not_carried", advice }, path);
}

/** Returns the refusal of a field with the wrong JSON type. */
export function wrongType(path: string, expected: string): Failed<Refusal> {
  return refuse("invalid_type", { kind: "rule", rule: `must be ${expected}` }, path);
}

/** Returns the refusal of a value that no provider accepts. */
export function wrongValue(path: string, expected: string): Failed<Refusal> {
  return brokenRule(path, `must be ${expected}`);
}

/**
 * Returns the refusal of a value that breaks a rule: the predicate of a sentence about the field.
 */
export function brokenRule(path: string, rule: string): Failed<Refusal> {
  return refuse("invalid_value", { kind: "rule", rule }, path);
}

/** Returns the refusal of two contradictory fields. */
export function contradiction(path: string, message: string): Failed<Refusal> {
  return refuse("invalid_parameter_combination", message, path);
}

/** Returns the refusal of a request without a required field. */
export function missing(path: string): Failed<Refusal> {
  return refuse("missing_required_parameter", { kind: "rule", rule: "is required" }, path);
}

/**
 * Returns the arguments of a call in the history, with numbers as exact text. Empty text is an
 * empty object.
 */
export function parseArguments(given: Optional, path: string): Result<JsonObject> {
  const text = given ?? "";
  if (typeof text !== "string") return wrongType(path, "a string");
  const value = text.trim() === "" ? {} : parseExact(text);
  // The model may have written any text, also invalid JSON.
  if (!isObject(value)) return wrongValue(path, "the text of a JSON object");
  return isTooDeep(value)
    ? unsupported(path, `It is nested more than ${MAX_LEVELS} levels deep.`)
    : success(value);
}

/** Returns the refusal of a body that is nested too deeply for a translation; otherwise null. */
export function nesting(body: JsonObject): Failed<Refusal> | null {
  const deep = Object.keys(body).find((key) => isTooDeep(body[key]));
  if (deep === undefined) return null;
  const rule = `is nested more than ${MAX_LEVELS} levels deep, which only upstreams that speak ` +
    "Chat Completions themselves can take";
  return refuse("unsupported_feature", { kind: "rule", rule }, deep);
}
