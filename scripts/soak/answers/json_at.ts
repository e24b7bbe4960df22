import { isObject, type JsonValue } from "../../../src/core/json/json.ts";

/** Returns the member of a JSON value at a path of names and positions; undefined without it. */
export function at(value: JsonValue | undefined, ...path: readonly (string | number)[]) {
  let found = value;
  for (const step of path) {
    if (typeof step === "number") found = Array.isArray(found) ? found.at(step) : undefined;
    else found = isObject(found) ? found[step] : undefined;
  }
  return found;
}

/** Returns the elements of a JSON array; none for any other value. */
export function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a JSON text, or an empty text for any other value. */
export function textAt(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Returns a JSON number, or null for any other value. */
export function numberAt(value: JsonValue | undefined): number | null {
  return typeof value === "number" ? value : null;
}
