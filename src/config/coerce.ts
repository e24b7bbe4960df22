import { isObject, type JsonObject } from "../core/json/json.ts";
import { schemaBelow, typedJsonSchema } from "./json_schema.ts";
import type { Mark } from "./leaf.ts";
import { isEmptyAllowed, isTextMeant } from "./widened_schema.ts";

/** Has one written form, also with more digits than a number holds. */
const WHOLE_NUMBER = /^(?:0|-?[1-9]\d*)$/;

/**
 * Returns the file with each value as its place means it: a section with nothing below it is an
 * empty one, and a number or boolean in the place of text is the text that was written. A number
 * that could be written in more than one way (`1.0`, `0x10`, `1e5`) stays one, for the file does not
 * say which text is meant.
 */
export function coerce(value: unknown, mark: Mark): unknown {
  return isObject(value) ? coerceObject(value, mark, typedJsonSchema()) : value;
}

function coerceObject(value: JsonObject, mark: Mark | undefined, schema: unknown): object {
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const below = schemaBelow(schema, key);
      const isEmpty = inner === null && isObject(below) && isEmptyAllowed(below);
      if (isEmpty) return [key, below.type === "array" ? [] : {}];
      return [key, coerceValue(inner, mark?.inside.get(key), below)];
    }),
  );
}

function coerceValue(value: unknown, mark: Mark | undefined, schema: unknown): unknown {
  if (!isObject(schema)) return value;
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      coerceValue(item, mark?.inside.get(index), schemaBelow(schema, index))
    );
  }
  if (isObject(value)) return coerceObject(value, mark, schema);
  const isBare = typeof value === "number" || typeof value === "boolean";
  if (!isBare || !isTextMeant(schema) || typeof mark?.written !== "string") return value;
  const isUnambiguous = String(value) === mark.written || WHOLE_NUMBER.test(mark.written);
  return isUnambiguous ? mark.written : value;
}
