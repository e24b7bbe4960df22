import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { type ApiError, newApiError } from "./protocol.ts";

/** Returns true if a field may hold the value. */
export type ValueCheck = (value: JsonValue) => boolean;

/** The rule for the value of one request field. */
export interface FieldRule {
  readonly name: string;
  /** What the value must be, as the error message says it: `a string or null`. */
  readonly expected: string;
  readonly isValid: ValueCheck;
}

/** True for a string, also an empty one. */
export const isText: ValueCheck = (value) => typeof value === "string";

/** True for a boolean. */
export const isFlag: ValueCheck = (value) => typeof value === "boolean";

/**
 * Yields an error for each field of the body whose value breaks its rule. Absent fields are valid.
 */
export function* fieldRuleErrors(
  body: JsonObject,
  fields: readonly FieldRule[],
): Generator<ApiError> {
  for (const { name, expected, isValid } of fields) {
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

/** Returns a check for one of the words in a space-separated list. */
export function oneOf(words: string): ValueCheck {
  const known = words.split(" ");
  return (value) => typeof value === "string" && known.includes(value);
}

/** True for an object whose values are all strings. */
export function isMetadata(value: JsonValue): value is JsonObject {
  return isObject(value) && Object.values(value).every((item) => typeof item === "string");
}
