import { isObject, type JsonObject } from "../core/json/json.ts";
import { schemaBelow, typedJsonSchema } from "./json_schema.ts";
import { configSchema, READ_ONCE } from "./schema.ts";
import { isEmptyAllowed, isTextMeant } from "./widened_schema.ts";
import { isAlias, isMap, isScalar, isSeq } from "yaml";

/** Whole number with a single written form, also with more digits than a double can represent. */
const WHOLE_NUMBER = /^(?:0|-?[1-9]\d*)$/;

/**
 * Returns the file's value with each member converted to the type of its key, as `coerceMembers` does. A value
 * that is valid as written has nothing to convert, unless a number has more digits than a double. Measured: the
 * JSON Schema, which only the conversion needs, is a tenth of the start of the gateway.
 */
export function coerce(value: unknown, mark: Mark): unknown {
  if (!isObject(value)) return value;
  const isExact = !hasInexactInteger(value) && configSchema.safeParse(value, READ_ONCE).success;
  return isExact ? value : coerceMembers(value, mark);
}

/** True if a value holds an integer whose digits a double may not have kept. */
function hasInexactInteger(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(hasInexactInteger);
}

/**
 * Converts each member to the type of its key. A section without content becomes an empty mapping or list. A
 * number or boolean where the schema expects text becomes its source text. A number with several written forms
 * (`1.0`, `0x10`, `1e5`) stays a number, because the intended text is unknown.
 */
export function coerceMembers(value: JsonObject, mark: Mark): object {
  return coerceObject(value, mark, typedJsonSchema());
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

/** Position of a value in the file: the offsets of its key and of its value, and those of its members. */
export interface Mark {
  readonly key: number | null;
  readonly value: number;
  readonly inside: ReadonlyMap<string | number, Mark>;
  /** Source text of a number or a boolean; null for any other value. */
  readonly written: string | null;
}

/** A value with its position in the file. */
export interface Leaf {
  readonly value: unknown;
  readonly mark: Mark;
  /** Number of values in it, each repetition counted. */
  readonly size: number;
}

/** Returns the mapping of these members at this offset. */
export function objectLeaf(members: ReadonlyMap<string, Leaf>, at: number): Leaf {
  const inside = new Map<string, Mark>();
  let size = 1;
  for (const [key, leaf] of members) {
    inside.set(key, leaf.mark);
    size += leaf.size;
  }
  const values = Array.from(members, ([key, leaf]): [string, unknown] => [key, leaf.value]);
  const mark = { key: null, value: at, inside, written: null };
  return { value: Object.fromEntries(values), mark, size };
}

/** Returns a value without members; `written` is the source text of a number or a boolean. */
export function bareLeaf(value: unknown, at: number, written: string | null = null): Leaf {
  return { value, mark: { key: null, value: at, inside: new Map(), written }, size: 1 };
}

/** Returns the offset of a node in the file; 0 if it has none. */
export function offset(node: unknown): number {
  const isPlaced = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node);
  return isPlaced ? node.range?.[0] ?? 0 : 0;
}
