import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { countItems } from "../../core/json/scan.ts";
import { memberPath } from "../../prompt/carry.ts";
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

/** Longest reference that is followed; any other is left out. */
const MAX_REFERENCE_CHARS = 1_024;

/**
 * Maximum characters of what references stand for, and as how many each member and element counts
 * besides its own: 0.1 s.
 */
const MAX_REFERRED_CHARS = 2 * 1024 * 1024, ITEM_CHARS = 32;

/** Maximum nesting of a rewritten schema. */
const MAX_DEPTH = 64;

/** Maximum number of recorded paths of one request. */
export const MAX_LOST = 20;

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

/**
 * Number of schemas that a request may still have when its references are written out, and of the
 * characters that these stand for.
 */
export interface SchemaBudget {
  left: number;
  chars: number;
}

/** Returns the budget of one request. */
export function newSchemaBudget(): SchemaBudget {
  return { left: MAX_SCHEMAS, chars: MAX_REFERRED_CHARS };
}

/**
 * Returns a schema in the words of the Gemini API (function declarations), which refuses others.
 * References are written out, `const` becomes `enum`, a type that may be null becomes `nullable`,
 * exclusive bounds of integers become bounds, and numbers in an `enum` become texts. All else is
 * left out, with its path. Null if the result is too deep or too large.
 */
export function rewriteSchema(root: JsonObject, budget: SchemaBudget): Rewritten | null {
  const lost = new Set<string>();
  const enums: TextEnums = new Map();
  const sizes = new Map<JsonObject, number>();
  let isTooLarge = false;

  function lose(place: string): void {
    if (lost.size < MAX_LOST) lost.add(place);
  }

  /**
   * Returns the schema at a reference, unless this one led here `most` times. Takes the search and
   * the size of the schema from the budget; null if too little of it is left, and for a reference
   * that is too long. `seen` has the references that lead here.
   */
  function follow(ref: Optional, seen: readonly string[], most: number): JsonObject | null {
    if (typeof ref !== "string" || ref.length > MAX_REFERENCE_CHARS) return null;
    if (!spendChars(ref.length + seen.length * ITEM_CHARS)) return null;
    if (seen.filter((one) => one === ref).length >= most) return null;
    const target = referredTo(root, ref);
    if (target === null) return null;
    const size = sizes.get(target) ?? sizeOf(target);
    sizes.set(target, size);
    return spendChars(size) ? target : null;
  }

  function spendChars(chars: number): boolean {
    budget.chars -= chars;
    isTooLarge ||= budget.chars < 0;
    return !isTooLarge;
  }

  /** Takes another schema; false if there are too many. */
  function spendSchema(depth: number): boolean {
    budget.left -= 1;
    isTooLarge ||= budget.left < 0 || depth > MAX_DEPTH;
    return !isTooLarge;
  }

  function rewrite(
    given: Optional,
    at: string,
    seen: readonly string[],
    depth: number,
  ): JsonObject {
    if (!spendSchema(depth) || given === true) return {};
    if (!isObject(given)) {
      lose(at);
      return {};
    }
    const { $ref: ref, ...rest } = given;
    if (ref === undefined) return rewriteOne(given, at, seen, depth);
    const target = follow(ref, seen, MAX_RECURSION);
    if (typeof ref !== "string" || target === null) {
      lose(`${at}.$ref`);
      return rewriteOne(rest, at, seen, depth);
    }
    return rewriteOne(merged([target, rest], `${at}.$ref`), at, [...seen, ref], depth);
  }

  /** Returns one schema of several that hold together. Of a keyword in two the first one counts. */
  function merged(schemas: readonly JsonObject[], at: string): JsonObject {
    const result: JsonObject = {};
    const properties: JsonObject[] = [];
    const required: JsonValue[][] = [];
    const texts = new Map<string, string>();
    for (const schema of schemas) {
      for (const [key, value] of Object.entries(schema)) {
        if (value === undefined) continue;
        if (key === "properties" && isObject(value)) properties.push(value);
        if (key === "required" && Array.isArray(value)) required.push(value);
        const before = result[key];
        if (before === undefined) result[key] = value;
        else if (key === "properties" && isObject(before) && isObject(value)) continue;
        else if (key === "required" && Array.isArray(before) && Array.isArray(value)) continue;
        else {
          // The one that counts may be as long as all others together.
          const text = texts.get(key) ?? JSON.stringify(before);
          texts.set(key, text);
          if (text !== JSON.stringify(value)) lose(at);
        }
      }
    }
    // All at once: to copy those of the schemas before for each one would take the square.
    if (properties.length > 1 && isObject(result.properties)) {
      const all = properties.toReversed().flatMap((one) => Object.entries(one));
      result.properties = Object.fromEntries(all);
    }
    if (required.length > 1 && Array.isArray(result.required)) {
      result.required = [...new Set(required.flat())];
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
      const all = allOf.map((branch) => spendSchema(depth) ? resolved(branch, seen) : {});
      const refs = allOf.flatMap((branch) =>
        isObject(branch) && typeof branch.$ref === "string" ? [branch.$ref] : []
      );
      return rewrite(merged([own, ...all], `${at}.allOf`), at, [...seen, ...refs], depth);
    }
    const input: KeywordInput = { result: {}, own, enums, lose };
    for (const [key, value] of Object.entries(own)) {
      if (value === undefined || NAMES.includes(key)) continue;
      if (DROPPED.includes(key)) lose(`${at}.${key}`);
      else member(input, key, value, { at, seen, depth: depth + 1 });
    }
    return completed(input, at);
  }

  function resolved(branch: JsonValue, seen: readonly string[]): JsonObject {
    if (!isObject(branch)) return {};
    const { $ref: ref, ...rest } = branch;
    const target = follow(ref, seen, 1);
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
    const place = memberPath(at, key);
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
              [name, rewrite(one, memberPath(place, name), seen, depth)] as const
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
        if (isTuple && value.length !== 1) lose(place);
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
          lose(place);
        }
        return;
      default:
        return addPlain(input, key, value, place);
    }
  }

  const schema = rewrite(root, "", [], 0);
  return isTooLarge ? null : { schema, lost: [...lost], enums };
}

/** Returns the characters as which a schema counts for each reference to it. */
function sizeOf(schema: JsonObject): number {
  const text = JSON.stringify(schema);
  return text.length + ITEM_CHARS * countItems(text, Infinity).count;
}

/** Returns the schema at a reference within the document (`#/…`). */
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
