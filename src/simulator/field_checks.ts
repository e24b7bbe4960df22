import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { type ApiError, newApiError } from "./protocol.ts";

/** Returns true if a field may hold the value. */
export type ValueCheck = (value: JsonValue) => boolean;

/** The rule for the value of a request field. */
export interface FieldRule {
  /** Expected value in the words of the error message: `a string or null`. */
  readonly expected: string;
  readonly isValid: ValueCheck;
}

/** True for a string, also an empty one. */
export const isText: ValueCheck = (value) => typeof value === "string";

const isFlag: ValueCheck = (value) => typeof value === "boolean";

/** Returns the rule for a value that passes a check. */
export function rule(expected: string, isValid: ValueCheck): FieldRule {
  return { expected, isValid };
}

/** Returns the rule that also accepts null. */
export function nullable({ expected, isValid }: FieldRule): FieldRule {
  return rule(`${expected} or null`, orNull(isValid));
}

export const TEXT = rule("a string", isText);
export const FLAG = rule("a boolean", isFlag);
export const METADATA = rule("an object of strings", isMetadata);
export const INTEGER = rule("an integer", Number.isInteger);
export const POSITIVE = rule("a positive integer", integerBetween(1, Infinity));

/** Returns the rule for a number from `low` to `high`, both included. */
export function numberFrom(low: number, high: number): FieldRule {
  return rule(`a number from ${low} to ${high}`, between(low, high));
}

/** Returns the rule for an integer from `low` to `high`, both included. */
export function integerFrom(low: number, high: number): FieldRule {
  return rule(`an integer from ${low} to ${high}`, integerBetween(low, high));
}

/**
 * Yields an error for each field of the body whose value breaks its rule. Absent fields are valid.
 */
export function* fieldRuleErrors(
  body: JsonObject,
  rules: Readonly<Record<string, FieldRule>>,
): Generator<ApiError> {
  for (const [name, { expected, isValid }] of Object.entries(rules)) {
    const value = body[name];
    if (value !== undefined && !isValid(value)) {
      yield invalidValue(name, `${name} must be ${expected}.`);
    }
  }
}

/** Returns the error for an invalid value of a field. */
export function invalidValue(param: string, message: string): ApiError {
  return newApiError(message, { param, code: "invalid_value" });
}

/** Returns the error for an absent required field. */
export function missingParameter(param: string): ApiError {
  const message = `Missing required parameter: '${param}'.`;
  return newApiError(message, { param, code: "missing_required_parameter" });
}

/** Returns a check that also accepts null. */
export function orNull(check: ValueCheck): ValueCheck {
  return (value) => value === null || check(value);
}

/** Returns a check for a number from `low` to `high`, both included. */
export function between(low: number, high: number): ValueCheck {
  return (value) => typeof value === "number" && value >= low && value <= high;
}

/** Returns a check for an integer from `low` to `high`, both included. */
export function integerBetween(low: number, high: number): ValueCheck {
  const fits = between(low, high);
  return (value) => Number.isInteger(value) && fits(value);
}

/** Returns the words of a space-separated list. */
export function words(list: string): readonly string[] {
  return list.split(" ");
}

/** Returns a check for one of the words in a space-separated list. */
export function oneOf(list: string): ValueCheck {
  const known = words(list);
  return (value) => typeof value === "string" && known.includes(value);
}

/** True for an object whose values are all strings. */
export function isMetadata(value: JsonValue): value is JsonObject {
  return isObject(value) && Object.values(value).every((item) => typeof item === "string");
}

/**
 * Yields the errors of unknown members, as the Messages API says them; `path` precedes their names.
 */
export function* extraInputErrors(
  body: JsonObject,
  known: readonly string[],
  path = "",
): Generator<string> {
  for (const key of Object.keys(body)) {
    if (!known.includes(key)) yield `${path}${key}: Extra inputs are not permitted`;
  }
}
