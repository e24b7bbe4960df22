import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import type { Optional } from "../../prompt/refusals.ts";

/**
 * Maximum number of schemas in the rewritten parameters of a request: references are written out,
 * so that few members can stand for very many.
 */
const MAX_SCHEMAS = 8000;

/** Maximum nesting of a rewritten schema. */
const MAX_DEPTH = 64;

/** How often a reference is followed inside what it refers to. */
const MAX_RECURSION = 3;

/** Keywords without a meaning for what an instance may be. */
const NAMES: readonly string[] = [
  "$schema",
  "$id",
  "$comment",
  "$anchor",
  "$defs",
  "definitions",
];

/** Keywords that the host refuses, and of which a model loses something. */
const DROPPED: readonly string[] = [
  "examples",
  "default",
  "title",
  "deprecated",
  "readOnly",
  "writeOnly",
  "patternProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "unevaluatedProperties",
  "unevaluatedItems",
  "contains",
  "minContains",
  "maxContains",
  "uniqueItems",
  "multipleOf",
  "prefixItems",
  "additionalItems",
  "$dynamicRef",
  "$dynamicAnchor",
  "$recursiveRef",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
];

/** Values of `format` that the host knows. */
const FORMATS: readonly unknown[] = ["date-time", "enum", "float", "double", "int32", "int64"];

/** The schema of a function for a host that knows a part of JSON Schema. */
export interface Rewritten {
  readonly schema: JsonObject;
  /** Paths below the schema of what the model loses, such as `.properties.max.exclusiveMinimum`. */
  readonly lost: readonly string[];
}

/** Number of schemas that a request may still have when its references are written out. */
export interface SchemaBudget {
  left: number;
}

/** Returns the budget of one request. */
export function newSchemaBudget(): SchemaBudget {
  return { left: MAX_SCHEMAS };
}

/**
 * Returns a schema in the words of the Gemini API (function declarations), which refuses others.
 * What can be said in its words is: references are written out, `const` becomes `enum`, a type that
 * may be null becomes `nullable`, and exclusive bounds of integers become bounds. All else is left
 * out, with its path. Null if it is too deep or too large then.
 */
export function rewriteSchema(root: JsonObject, budget: SchemaBudget): Rewritten | null {
  const lost: string[] = [];
  let isTooLarge = false;

  function rewrite(
    given: Optional,
    at: string,
    seen: readonly string[],
    depth: number,
  ): JsonObject {
    budget.left -= 1;
    if (budget.left < 0 || depth > MAX_DEPTH) isTooLarge = true;
    if (isTooLarge || given === true) return {};
    if (!isObject(given)) {
      lost.push(at);
      return {};
    }
    const { $ref: ref, ...rest } = given;
    if (ref === undefined) return rewriteOne(given, at, seen, depth);
    const target = typeof ref === "string" ? referredTo(root, ref) : null;
    const isRecursive = seen.filter((one) => one === ref).length >= MAX_RECURSION;
    if (typeof ref !== "string" || target === null || isRecursive) {
      lost.push(`${at}.$ref`);
      return rewriteOne(rest, at, seen, depth);
    }
    return rewriteOne(merged([target, rest], `${at}.$ref`), at, [...seen, ref], depth);
  }

  /** Returns one schema of several that hold together. Of a keyword in two the first one counts. */
  function merged(schemas: readonly JsonObject[], at: string): JsonObject {
    const result: JsonObject = {};
    for (const schema of schemas) {
      for (const [key, value] of Object.entries(schema)) {
        const before = result[key];
        if (before === undefined) result[key] = value;
        else if (key === "properties" && isObject(before) && isObject(value)) {
          result[key] = { ...value, ...before };
        } else if (key === "required" && Array.isArray(before) && Array.isArray(value)) {
          result[key] = [...new Set([...before, ...value])];
        } else if (JSON.stringify(before) !== JSON.stringify(value)) lost.push(at);
      }
    }
    return result;
  }

  function rewriteOne(
    given: JsonObject,
    at: string,
    seen: readonly string[],
    depth: number,
  ): JsonObject {
    const { allOf, ...own } = given;
    if (Array.isArray(allOf)) {
      const all = allOf.map((branch) => resolved(branch, seen));
      const refs = allOf.flatMap((branch) =>
        isObject(branch) && typeof branch.$ref === "string" ? [branch.$ref] : []
      );
      return rewrite(merged([own, ...all], `${at}.allOf`), at, [...seen, ...refs], depth);
    }
    const result: JsonObject = {};
    for (const [key, value] of Object.entries(own)) {
      if (value === undefined || NAMES.includes(key)) continue;
      if (DROPPED.includes(key)) lost.push(`${at}.${key}`);
      else member(result, key, value, { at, own, seen, depth: depth + 1 });
    }
    return completed(result);
  }

  function resolved(branch: JsonValue, seen: readonly string[]): JsonObject {
    if (!isObject(branch)) return {};
    const { $ref: ref, ...rest } = branch;
    const target = typeof ref === "string" && !seen.includes(ref) ? referredTo(root, ref) : null;
    return target === null ? branch : { ...target, ...rest };
  }

  function member(
    result: JsonObject,
    key: string,
    value: JsonValue,
    { at, own, seen, depth }: {
      readonly at: string;
      readonly own: JsonObject;
      readonly seen: readonly string[];
      readonly depth: number;
    },
  ): void {
    const place = `${at}.${key}`;
    switch (key) {
      case "const":
        return addEnum(result, [value], place);
      case "enum":
        return addEnum(result, Array.isArray(value) ? value : [], place);
      case "type":
        return addType(result, value);
      case "properties":
        result.properties = isObject(value)
          ? Object.fromEntries(
            Object.entries(value).map(([name, one]) =>
              [name, rewrite(one, `${place}.${name}`, seen, depth)] as const
            ),
          )
          : {};
        return;
      case "required":
        result.required = namesIn(value).filter((name) =>
          isObject(own.properties) && Object.hasOwn(own.properties, name)
        );
        return;
      case "items": {
        const isTuple = Array.isArray(value);
        if (isTuple && value.length !== 1) lost.push(place);
        result.items = rewrite(isTuple ? value[0] ?? {} : value, place, seen, depth);
        return;
      }
      case "anyOf":
      case "oneOf":
        return addBranches(
          result,
          key,
          Array.isArray(value) ? value : [],
          place,
          (branch, path) => rewrite(branch, path, seen, depth),
        );
      case "exclusiveMinimum":
      case "exclusiveMaximum":
        return addBound(result, key, value, own, place);
      case "additionalProperties":
        if (value !== true && !(isObject(value) && Object.keys(value).length === 0)) {
          lost.push(place);
        }
        return;
      case "format":
        if (FORMATS.includes(value)) result.format = value;
        else lost.push(place);
        return;
      case "pattern":
        if (typeof value === "string" && !/\(\?[=!<]/.test(value)) result.pattern = value;
        else lost.push(place);
        return;
      default:
        if (KNOWN.includes(key)) result[key] = value;
        else lost.push(place);
    }
  }

  /** Adds the values of an `enum`, which are texts at this host. */
  function addEnum(result: JsonObject, values: readonly JsonValue[], place: string): void {
    const texts = values.filter((value) => typeof value === "string");
    if (values.includes(null)) result.nullable = true;
    if (texts.length + (values.includes(null) ? 1 : 0) !== values.length) lost.push(place);
    else if (texts.length > 0) {
      result.enum = texts;
      result.type ??= "string";
    }
  }

  function addType(result: JsonObject, value: JsonValue): void {
    const types = Array.isArray(value) ? value : [value];
    const others = types.filter((type) => type !== "null");
    if (others.length < types.length) result.nullable = true;
    if (others.length === 1) result.type = others[0];
    else if (others.length > 1) result.anyOf = others.map((type) => ({ type }));
  }

  function addBranches(
    result: JsonObject,
    key: "anyOf" | "oneOf",
    branches: readonly JsonValue[],
    place: string,
    rewriteBranch: (branch: JsonValue, path: string) => JsonObject,
  ): void {
    const others = branches.filter((branch) => !(isObject(branch) && branch.type === "null"));
    if (others.length < branches.length) result.nullable = true;
    const schemas = others.map((branch, index) => rewriteBranch(branch, `${place}[${index}]`));
    if (key === "oneOf" && !areTold(others)) lost.push(place);
    const [first] = schemas;
    if (schemas.length === 1 && first !== undefined) {
      for (const [name, value] of Object.entries(first)) result[name] ??= value;
    } else if (schemas.length > 1) result.anyOf = schemas;
  }

  function addBound(
    result: JsonObject,
    key: "exclusiveMinimum" | "exclusiveMaximum",
    value: JsonValue,
    own: JsonObject,
    place: string,
  ): void {
    const bound = numberOf(value);
    const [name, step] = key === "exclusiveMinimum"
      ? ["minimum", 1] as const
      : ["maximum", -1] as const;
    const isExact = own.type === "integer" && bound !== null && Number.isSafeInteger(bound);
    if (!isExact) lost.push(place);
    if (bound !== null && own[name] === undefined) result[name] = isExact ? bound + step : value;
  }

  const schema = rewrite(root, "", [], 0);
  return isTooLarge ? null : { schema, lost: [...new Set(lost)] };
}

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

function completed(result: JsonObject): JsonObject {
  return result.type === "array" && result.items === undefined ? { ...result, items: {} } : result;
}

function namesIn(value: JsonValue): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}

/** Returns the schema at a reference within the document (`#/…`); null if there is none. */
function referredTo(root: JsonObject, ref: string): JsonObject | null {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return null;
  let found: Optional = root;
  for (const step of ref.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isObject(found) ? found : null;
}

/**
 * True if an instance can fit one branch at most: all have one property whose values, all listed,
 * differ between the branches.
 */
function areTold(branches: readonly JsonValue[]): boolean {
  const [first, ...rest] = branches;
  if (!isObject(first) || !isObject(first.properties)) return false;
  return Object.keys(first.properties).some((name) => {
    const lists = [first, ...rest].map((branch) => listedValues(branch, name));
    if (lists.some((list) => list === null)) return false;
    const all = lists.flatMap((list) => list ?? []);
    return new Set(all).size === all.length;
  });
}

/** Returns the values of a required property of a branch as texts; null if they are not listed. */
function listedValues(branch: JsonValue, name: string): readonly string[] | null {
  if (!isObject(branch) || !isObject(branch.properties)) return null;
  if (!namesIn(branch.required ?? null).includes(name)) return null;
  const property = branch.properties[name];
  if (!isObject(property)) return null;
  const values = property.const === undefined ? property.enum : [property.const];
  return Array.isArray(values) ? [...new Set(values.map((value) => JSON.stringify(value)))] : null;
}
