import { decodeUriText } from "../../core/uri_text.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { Refusal } from "../../core/failure/failure.ts";
import { type Failed, type Result, success } from "../../core/failure/result.ts";
import { wrongType } from "../../prompt/refusals.ts";
import type { SchemaCheck } from "../../prompt/response_promise.ts";
import { FORMATS } from "./formats.ts";
import type { Patterns } from "./patterns.ts";
import { newSchemaCheck } from "./schema_check.ts";
import {
  arrayProblem,
  isScalar,
  isTexts,
  isTypes,
  objectProblem,
  refused,
} from "./schema_shape.ts";
import { weighSchema } from "./schema_weight.ts";

/**
 * Maximum number of schemas and `enum` values in one schema: building its check takes a few µs
 * each.
 */
const MAX_SCHEMA_NODES = 2_000;

/** Maximum number of schemas within each other, without references. */
const MAX_SCHEMA_LEVELS = 64;

/**
 * Keywords that describe and do not restrict. The provider receives them; the check ignores them.
 */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "example",
  "examples",
  "$comment",
  "deprecated",
  "readOnly",
  "writeOnly",
]);

const ROOT_ONLY: ReadonlySet<string> = new Set(["$schema", "$defs", "definitions"]);

const LENGTHS: ReadonlySet<string> = new Set(["minLength", "maxLength", "minItems", "maxItems"]);

const BOUNDS: ReadonlySet<string> = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
]);

/**
 * Returns the check of a strict schema (OpenAI API, structured outputs). Each object lists all its
 * properties as required and permits no others. A Refusal names the keyword that is outside of this
 * subset, or that could make a check slow: a `pattern` with lookarounds, too many alternatives.
 */
export function parseStrictSchema(
  given: JsonObject,
  path: string,
  patterns: Patterns,
): Result<SchemaCheck> {
  const definitions = definitionsOf(given, path);
  if (!definitions.ok) return definitions;
  const places = definitions.value.map(({ ref }, at) => [ref, at + 1] as const);
  const cleaner = newCleaner(new Map([["#", 0], ...places]), patterns);
  const root = cleaner.clean(given, path, 0);
  if (!root.ok) return root;
  if (given.type !== "object" && given.$ref === undefined) {
    return refused(`${path}.type`, "The root of a strict schema is an object.");
  }
  const cleaned = [root.value];
  for (const { schema, at } of definitions.value) {
    const one = cleaner.clean(schema, at, 1);
    if (!one.ok) return one;
    cleaned.push(one.value);
  }
  const problem = weighSchema(cleaned);
  if (problem !== null) return refused(path, problem);
  return success(newSchemaCheck(cleaned, cleaner.nodes(), patterns));
}

interface Definition {
  /** The reference to it, as the schema writes it. */
  readonly ref: string;
  readonly schema: JsonObject;
  readonly at: string;
}

function definitionsOf(root: JsonObject, path: string): Result<readonly Definition[]> {
  const found: Definition[] = [];
  for (const key of ["$defs", "definitions"]) {
    const list = root[key] ?? {};
    if (!isObject(list)) return wrongType(`${path}.${key}`, "an object");
    for (const [name, schema] of Object.entries(list)) {
      const at = `${path}.${key}.${name}`;
      if (!isObject(schema)) return wrongType(at, "an object");
      const pointer = name.replaceAll("~", "~0").replaceAll("/", "~1");
      found.push({ ref: `#/${key}/${pointer}`, schema, at });
    }
  }
  return success(found);
}

/** Returns the functions that copy the known keywords of the schemas of one root. */
function newCleaner(places: ReadonlyMap<string, number>, patterns: Patterns) {
  let nodes = 0;

  function count(more: number, path: string): Failed<Refusal> | null {
    nodes += more;
    return nodes <= MAX_SCHEMA_NODES
      ? null
      : refused(path, `It has more than ${MAX_SCHEMA_NODES} parts; send a smaller one.`);
  }

  function clean(node: JsonObject, path: string, level: number): Result<JsonObject> {
    const tooMany = count(1, path);
    if (tooMany !== null) return tooMany;
    if (level > MAX_SCHEMA_LEVELS) {
      return refused(path, `It is nested more than ${MAX_SCHEMA_LEVELS} levels deep.`);
    }
    if (["type", "enum", "const", "anyOf", "$ref"].every((key) => node[key] === undefined)) {
      return refused(path, "Each part of a strict schema needs a type.");
    }
    const cleaned: JsonObject = {};
    for (const [key, value] of Object.entries(node)) {
      if (ANNOTATIONS.has(key) || (level === 0 && ROOT_ONLY.has(key)) || value === undefined) {
        continue;
      }
      const at = `${path}.${key}`;
      const one = cleanKeyword(key, value, at, level);
      if (!one.ok) return one;
      cleaned[key] = one.value;
    }
    const shape = objectProblem(cleaned, path) ?? arrayProblem(cleaned, path);
    return shape ?? success(cleaned);
  }

  function cleanKeyword(
    key: string,
    value: JsonValue,
    path: string,
    level: number,
  ): Result<JsonValue> {
    if (LENGTHS.has(key)) {
      return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
        ? success(value)
        : wrongType(path, "a whole number");
    }
    if (BOUNDS.has(key)) {
      const isBound = typeof value === "number" && Number.isFinite(value);
      return isBound && (key !== "multipleOf" || value > 0)
        ? success(value)
        : wrongType(path, "a number");
    }
    switch (key) {
      case "type":
        return isTypes(value) ? success(value) : refused(path, "It is no known type.");
      case "enum":
        return cleanEnum(value, path);
      case "const":
        return isScalar(value) ? success(value) : refused(path, "It must be a plain value.");
      case "format":
        return typeof value === "string" && Object.hasOwn(FORMATS, value)
          ? success(value)
          : refused(path, `Known formats: ${Object.keys(FORMATS).join(", ")}.`);
      case "pattern":
        return cleanPattern(value, path);
      case "$ref":
        return cleanReference(value, path);
      case "anyOf":
        return cleanAlternatives(value, path, level);
      case "items":
        return isObject(value) ? clean(value, path, level + 1) : wrongType(path, "an object");
      case "properties":
        return cleanProperties(value, path, level);
      case "required":
        return isTexts(value) ? success([...new Set(value)]) : wrongType(path, "a list of strings");
      case "additionalProperties":
        return value === false ? success(false) : refused(path, "It must be false.");
      default:
        return refused(path, "This keyword is not part of a strict schema that can be checked.");
    }
  }

  function cleanEnum(value: JsonValue, path: string): Result<JsonValue> {
    if (!Array.isArray(value) || value.length === 0) return wrongType(path, "a list of values");
    const tooMany = count(value.length, path);
    if (tooMany !== null) return tooMany;
    return value.every(isScalar) ? success(value) : refused(path, "It must hold plain values.");
  }

  function cleanPattern(value: JsonValue, path: string): Result<JsonValue> {
    if (typeof value !== "string") return wrongType(path, "a string");
    const pattern = patterns.parse(value);
    return typeof pattern === "string" ? refused(path, pattern) : success(value);
  }

  function cleanReference(value: JsonValue, path: string): Result<JsonValue> {
    const at = typeof value === "string"
      ? places.get(value) ?? places.get(decodeUriText(value))
      : null;
    return typeof at === "number"
      ? success(`#/definitions/d${at}`)
      : refused(path, "It must be '#' or name a schema in '$defs' of the same schema.");
  }

  function cleanAlternatives(value: JsonValue, path: string, level: number): Result<JsonValue> {
    if (!Array.isArray(value) || value.length === 0) return wrongType(path, "a list of schemas");
    const cleaned: JsonObject[] = [];
    for (const [index, schema] of value.entries()) {
      const at = `${path}[${index}]`;
      if (!isObject(schema)) return wrongType(at, "an object");
      const one = clean(schema, at, level + 1);
      if (!one.ok) return one;
      cleaned.push(one.value);
    }
    return success(cleaned);
  }

  function cleanProperties(value: JsonValue, path: string, level: number): Result<JsonValue> {
    if (!isObject(value)) return wrongType(path, "an object");
    const cleaned: [string, JsonObject][] = [];
    for (const [name, schema] of Object.entries(value)) {
      const at = `${path}.${name}`;
      // A copy of the schema would lose this name.
      if (name === "__proto__") return refused(at, "Use another name.");
      if (!isObject(schema)) return wrongType(at, "an object");
      const one = clean(schema, at, level + 1);
      if (!one.ok) return one;
      cleaned.push([name, one.value]);
    }
    return success(Object.fromEntries(cleaned));
  }

  return { clean, nodes: () => nodes };
}
