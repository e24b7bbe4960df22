import { isObject, type JsonObject, numberOf, parseJson } from "../../core/json/json.ts";
import type { Optional } from "../refusals.ts";

/**
 * True if two JSON values are equal. Members may be in another order, and numbers may be written
 * differently (1.0 and 1), because clients parse and write what they send back. One of the values
 * must not be nested deeper than a translation allows.
 */
export function equalsJson(one: Optional, other: Optional): boolean {
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length &&
      one.every((item, index) => equalsJson(item, other[index]));
  }
  if (isObject(one)) return isObject(other) && hasEqualMembers(one, other);
  const number = numberOf(one);
  return number === null ? one === other : number === numberOf(other);
}

function hasEqualMembers(one: JsonObject, other: JsonObject): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && equalsJson(one[key], other[key]));
}

/** True if a JSON value is equal to the value of a text; false if the text is not JSON. */
export function equalsJsonText(value: Optional, text: string): boolean {
  const parsed = parseJson(text);
  return parsed !== undefined && equalsJson(value, parsed);
}
