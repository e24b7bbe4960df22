import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { Optional } from "../../prompt/refusals.ts";
import {
  addBound,
  addBranches,
  addEnum,
  addPlain,
  addType,
  completed,
  type KeywordInput,
  namesIn,
} from "./schema_keywords.ts";
import type { TextEnums } from "./text_enums.ts";

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

/** The schema of a function for a host that knows a part of JSON Schema. */
export interface Rewritten {
  readonly schema: JsonObject;
  /** Paths below the schema of what the model loses, such as `.properties.max.exclusiveMinimum`. */
  readonly lost: readonly string[];
  /** The lists of which the host gets numbers as texts. */
  readonly enums: TextEnums;
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
 * References are written out, `const` becomes `enum`, a type that may be null becomes `nullable`,
 * exclusive bounds of integers become bounds, and numbers in an `enum` become texts. All else is
 * left out, with its path. Null if the result is too deep or too large.
 */
export function rewriteSchema(root: JsonObject, budget: SchemaBudget): Rewritten | null {
  const lost: string[] = [];
  const enums: TextEnums = new Map();
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
    const input: KeywordInput = { result: {}, own, enums, lose: (place) => void lost.push(place) };
    for (const [key, value] of Object.entries(own)) {
      if (value === undefined || NAMES.includes(key)) continue;
      if (DROPPED.includes(key)) lost.push(`${at}.${key}`);
      else member(input, key, value, { at, seen, depth: depth + 1 });
    }
    return completed(input, at);
  }

  function resolved(branch: JsonValue, seen: readonly string[]): JsonObject {
    if (!isObject(branch)) return {};
    const { $ref: ref, ...rest } = branch;
    const target = typeof ref === "string" && !seen.includes(ref) ? referredTo(root, ref) : null;
    return target === null ? branch : { ...target, ...rest };
  }

  function member(
    input: KeywordInput,
    key: string,
    value: JsonValue,
    { at, seen, depth }: {
      readonly at: string;
      readonly seen: readonly string[];
      readonly depth: number;
    },
  ): void {
    const place = `${at}.${key}`;
    const { result, own } = input;
    switch (key) {
      case "const":
        return addEnum(input, [value], place);
      case "enum":
        return addEnum(input, Array.isArray(value) ? value : [], place);
      case "type":
        return addType(input, value);
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
      case "oneOf": {
        const branches = Array.isArray(value) ? value : [];
        return addBranches(
          input,
          { isOneOf: key === "oneOf", branches, place },
          (branch, path) => rewrite(branch, path, seen, depth),
        );
      }
      case "exclusiveMinimum":
      case "exclusiveMaximum":
        return addBound(input, key, value, place);
      case "additionalProperties":
        if (value !== true && !(isObject(value) && Object.keys(value).length === 0)) {
          lost.push(place);
        }
        return;
      default:
        return addPlain(input, key, value, place);
    }
  }

  const schema = rewrite(root, "", [], 0);
  return isTooLarge ? null : { schema, lost: [...new Set(lost)], enums };
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
