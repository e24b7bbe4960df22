import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { type ApiError, newApiError } from "./protocol.ts";

/** Whether a value is what a field may hold. */
export type ValueCheck = (value: JsonValue) => boolean;

/** The name of a field, what it has to be in words, and the check of it. */
export interface FieldRule {
  readonly name: string;
  /** What the value must be, as the error message says it: `a string or null`. */
  readonly expected: string;
  readonly isValid: ValueCheck;
}

/** A string, the empty one too. */
export const isText: ValueCheck = (value) => typeof value === "string";

/** True or false. */
export const isFlag: ValueCheck = (value) => typeof value === "boolean";

/** The fields that are there and wrong. */
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

/** A error about the value of a field. */
export function invalidValue(param: string, message: string): ApiError {
  return newApiError(message, { param, code: "invalid_value" });
}

/** A error about a field that is not there. */
export function missingParameter(param: string): ApiError {
  const message = `Missing required parameter: '${param}'.`;
  return newApiError(message, { param, code: "missing_required_parameter" });
}

/** The same, or null. */
export function orNull(check: ValueCheck): ValueCheck {
  return (value) => value === null || check(value);
}

/** A number in this range, both ends included. */
export function between(low: number, high: number): ValueCheck {
  return (value) => typeof value === "number" && value >= low && value <= high;
}

/** A whole number in this range, both ends included. */
export function integerBetween(low: number, high: number): ValueCheck {
  const fits = between(low, high);
  return (value) => Number.isInteger(value) && fits(value);
}

/** One of these words, which spaces part. */
export function oneOf(words: string): ValueCheck {
  const known = words.split(" ");
  return (value) => typeof value === "string" && known.includes(value);
}

/** An object whose values are strings. */
export function isMetadata(value: JsonValue): value is JsonObject {
  return isObject(value) && Object.values(value).every((item) => typeof item === "string");
}
