import { isObject, type JsonObject, type JsonValue } from "../core/json.ts";
import { complain, type Complaint } from "./voice.ts";

/** Whether a value is what a field may hold. */
export type Check = (value: JsonValue) => boolean;

/** The name of a field, what it has to be in words, and the check of it. */
export type Field = readonly [string, string, Check];

/** A string, the empty one too. */
export const isText: Check = (value) => typeof value === "string";

/** True or false. */
export const isFlag: Check = (value) => typeof value === "boolean";

/** The fields that are there and wrong. */
export function* wrongFields(body: JsonObject, fields: readonly Field[]): Generator<Complaint> {
  for (const [name, wanted, check] of fields) {
    const value = body[name];
    if (value !== undefined && !check(value)) yield invalid(name, `${name} must be ${wanted}.`);
  }
}

/** A complaint about the value of a field. */
export function invalid(param: string, message: string): Complaint {
  return complain(message, { param, code: "invalid_value" });
}

/** A complaint about a field that is not there. */
export function missing(param: string): Complaint {
  const message = `Missing required parameter: '${param}'.`;
  return complain(message, { param, code: "missing_required_parameter" });
}

/** The same, or null. */
export function orNull(check: Check): Check {
  return (value) => value === null || check(value);
}

/** A number in this range, both ends included. */
export function between(low: number, high: number): Check {
  return (value) => typeof value === "number" && value >= low && value <= high;
}

/** A whole number in this range, both ends included. */
export function integerBetween(low: number, high: number): Check {
  const fits = between(low, high);
  return (value) => Number.isInteger(value) && fits(value);
}

/** One of these words, which spaces part. */
export function oneOf(words: string): Check {
  const known = words.split(" ");
  return (value) => typeof value === "string" && known.includes(value);
}

/** An object whose values are strings. */
export function isMetadata(value: JsonValue): value is JsonObject {
  return isObject(value) && Object.values(value).every((item) => typeof item === "string");
}
