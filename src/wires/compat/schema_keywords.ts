import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import { hasNumbers, type TextEnums, textsAccepted } from "./text_enums.ts";

/** Values of `format` that the host knows. */
const FORMATS: readonly unknown[] = ["date-time", "enum", "float", "double", "int32", "int64"];

/** Keywords that restrict numbers. */
const NUMERIC: readonly string[] = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "format",
];

/** Keywords that are passed on as they are. */
const KNOWN: readonly string[] = [
  "description",
  "nullable",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
  "propertyOrdering",
];

/** Where the keywords of one schema are written, and what is known of them. */
export interface KeywordInput {
  /** The schema for the host. */
  readonly result: JsonObject;
  /** The client's schema. */
  readonly own: JsonObject;
  /** The lists of which the host gets numbers as texts. */
  readonly enums: TextEnums;
  /** Records what the model loses. */
  lose(place: string): void;
}

/** Adds the values of an `enum`, which are texts at this host. */
export function addEnum(
  { result, own: { type = null }, enums, lose }: KeywordInput,
  values: readonly JsonValue[],
  place: string,
): void {
  if (values.includes(null)) result.nullable = true;
  const given = values.filter((value) => value !== null);
  const numbers = given.filter((value) => numberOf(value) !== null);
  const texts = given.map((value) => typeof value === "string" ? value : JSON.stringify(value));
  const isTextual = given.every((value) => typeof value === "string" || numberOf(value) !== null);
  if (!isTextual || new Set(texts).size < texts.length) return lose(place);
  if (given.length === 0) return;
  if (numbers.length === 0) {
    result.enum = texts;
    result.type ??= "string";
    return;
  }
  const types = type === null ? null : new Set(Array.isArray(type) ? type : [type]);
  const permitted = texts.filter((_text, at) =>
    types === null || hasType(given[at] ?? null, types)
  );
  result.enum = permitted;
  enums.set(permitted, new Set(numbers.map((value) => JSON.stringify(value))));
}

/** True if a value of an `enum` has one of the types. */
function hasType(value: JsonValue, types: ReadonlySet<JsonValue>): boolean {
  if (typeof value === "string") return types.has("string");
  return types.has("number") || types.has("integer") && Number.isInteger(numberOf(value));
}

/** Adds the types; those of a list of which the host gets texts are known. */
export function addType({ result }: KeywordInput, value: JsonValue): void {
  const types = Array.isArray(value) ? value : [value];
  const others = types.filter((type) => type !== "null");
  if (others.length < types.length) result.nullable = true;
  if (others.length === 1) result.type = others[0];
  else if (others.length > 1) result.anyOf = others.map((type) => ({ type }));
}

/** Adds alternatives, which `rewriteBranch` rewrites; one for null becomes `nullable`. */
export function addBranches(
  { result, enums, lose }: KeywordInput,
  { isOneOf, branches, place }: {
    readonly isOneOf: boolean;
    readonly branches: readonly JsonValue[];
    readonly place: string;
  },
  rewriteBranch: (branch: JsonValue, path: string) => JsonObject,
): void {
  const others = branches.filter((branch) => !(isObject(branch) && branch.type === "null"));
  if (others.length < branches.length) result.nullable = true;
  const schemas = others.map((branch, index) => rewriteBranch(branch, `${place}[${index}]`));
  if (isOneOf && !areDistinct(others) || textsAccepted(schemas, enums)) lose(place);
  const [first] = schemas;
  if (schemas.length === 1 && first !== undefined) {
    for (const [name, value] of Object.entries(first)) result[name] ??= value;
  } else if (schemas.length > 1) result.anyOf = schemas;
}

/** Adds an exclusive bound as a bound, which is exact for integers. */
export function addBound(
  { result, own, lose }: KeywordInput,
  key: "exclusiveMinimum" | "exclusiveMaximum",
  value: JsonValue,
  place: string,
): void {
  const bound = numberOf(value);
  const [name, step] = key === "exclusiveMinimum"
    ? ["minimum", 1] as const
    : ["maximum", -1] as const;
  const isExact = own.type === "integer" && bound !== null && Number.isSafeInteger(bound);
  if (!isExact) lose(place);
  if (bound !== null && own[name] === undefined) result[name] = isExact ? bound + step : value;
}

/** Adds a keyword with the meaning that it has in JSON Schema, if the host knows it. */
export function addPlain(
  { result, lose }: KeywordInput,
  key: string,
  value: JsonValue,
  place: string,
): void {
  const isKnown = key === "format"
    ? FORMATS.includes(value)
    : key === "pattern"
    ? typeof value === "string" && !/\(\?[=!<]/.test(value)
    : KNOWN.includes(key);
  if (isKnown) result[key] = value;
  else lose(place);
}

/**
 * Returns a schema with what its keywords need together: an array has `items`, and a list with
 * numbers as texts has the type of texts, without what restricts numbers.
 */
export function completed({ result, enums, lose }: KeywordInput, at: string): JsonObject {
  if (result.type === "array" && result.items === undefined) return { ...result, items: {} };
  const { type, anyOf, ...others } = result;
  if (hasNumbers(result, enums)) {
    const numeric = NUMERIC.filter((key) => result[key] !== undefined);
    for (const key of numeric) lose(`${at}.${key}`);
    const kept = Object.entries(others).filter(([key]) => !numeric.includes(key));
    return { ...Object.fromEntries(kept), type: "string" };
  }
  const branches = Array.isArray(anyOf) ? anyOf.filter(isObject) : [];
  if (type === undefined || !branches.some((branch) => hasNumbers(branch, enums))) return result;
  return { ...others, anyOf: branches.map((branch) => ({ type, ...branch })) };
}

/** Returns the texts of a list. */
export function namesIn(value: JsonValue): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}

/**
 * True if an instance can fit one branch at most: all have one property whose values, all listed,
 * differ between the branches.
 */
function areDistinct(branches: readonly JsonValue[]): boolean {
  const [first = null] = branches;
  const known = new Map<string, Set<string>>();
  let names = propertyNames(first);
  // Each branch leaves fewer names: to compare all branches for each name would take the square.
  for (const branch of branches) {
    const required = new Set(isObject(branch) ? namesIn(branch.required ?? null) : []);
    names = names.filter((name) => {
      const values = required.has(name) ? listedValues(branch, name) : null;
      const others = known.get(name) ?? new Set();
      known.set(name, others);
      if (values === null || values.some((value) => others.has(value))) return false;
      for (const value of values) others.add(value);
      return true;
    });
  }
  return names.length > 0;
}

function propertyNames(branch: JsonValue): readonly string[] {
  return isObject(branch) && isObject(branch.properties) ? Object.keys(branch.properties) : [];
}

/** Returns the values of a property of a branch as texts; null if they are not listed. */
function listedValues(branch: JsonValue, name: string): readonly string[] | null {
  if (!isObject(branch) || !isObject(branch.properties)) return null;
  const property = branch.properties[name];
  if (!isObject(property)) return null;
  const values = property.const === undefined ? property.enum : [property.const];
  return Array.isArray(values) ? [...new Set(values.map((value) => JSON.stringify(value)))] : null;
}
