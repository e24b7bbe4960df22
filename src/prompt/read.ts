import { isObject, type JsonObject, type JsonValue, numberOf } from "../core/json/json.ts";
import { type Result, success } from "../core/failure/result.ts";
import type { FieldRef, Given, GivenNumber } from "./prompt.ts";
import { missing, type Optional, wrongType } from "./refusals.ts";

/** Returns the values of named results, or the first failure in their order. */
export function allIn<Values>(
  results: { readonly [Key in keyof Values]: Result<Values[Key]> },
): Result<Values> {
  const values: Partial<Values> = {};
  for (const key in results) {
    const result = results[key];
    if (!result.ok) return result;
    values[key] = result.value;
  }
  return success(values as Values);
}

/** One object for all fields that a request does not have: most requests have few of them. */
const ABSENT = success(null);

/** Returns a text; null if it is absent. */
export function textOf(value: Optional, at: FieldRef): Result<Given<string> | null> {
  if ((value ?? null) === null) return ABSENT;
  return typeof value === "string" ? success({ value, at }) : wrongType(at.path, "a string");
}

/** Returns a text that must be there. */
export function requiredText(value: Optional, at: FieldRef): Result<Given<string>> {
  if (typeof value === "string") return success({ value, at });
  return (value ?? null) === null ? missing(at.path) : wrongType(at.path, "a string");
}

/** Returns an object that must be there. */
export function requiredObject(value: Optional, path: string): Result<JsonObject> {
  if (isObject(value)) return success(value);
  return (value ?? null) === null ? missing(path) : wrongType(path, "an object");
}

/** Returns true or false; null if it is absent. */
export function flagOf(value: Optional, at: FieldRef): Result<Given<boolean> | null> {
  if ((value ?? null) === null) return ABSENT;
  return typeof value === "boolean" ? success({ value, at }) : wrongType(at.path, "true or false");
}

/** Returns a number, which must be an integer on demand; null if it is absent. */
export function numberIn(
  exact: JsonValue,
  at: FieldRef,
  isWhole = false,
): Result<GivenNumber | null> {
  if (exact === null) return ABSENT;
  const value = numberOf(exact);
  if (value === null) return wrongType(at.path, isWhole ? "an integer" : "a number");
  return isWhole && !Number.isInteger(value)
    ? wrongType(at.path, "an integer")
    : success({ value, exact, at });
}

/** Returns the result of `make` for each object of a list; an absent list is empty. */
export function mapObjects<Made>(
  given: Optional,
  path: string,
  make: (item: JsonObject, path: string, index: number) => Result<Made>,
): Result<readonly Made[]> {
  const list = given ?? [];
  if (!Array.isArray(list)) return wrongType(path, "an array");
  const made: Made[] = [];
  for (const [index, item] of list.entries()) {
    const at = `${path}[${index}]`;
    if (!isObject(item)) return wrongType(at, "an object");
    const one = make(item, at, index);
    if (!one.ok) return one;
    made.push(one.value);
  }
  return success(made);
}
