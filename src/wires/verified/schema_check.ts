import { Ajv } from "ajv";
import { isObject, isTooDeep, type JsonObject, parseJson } from "../../core/json/json.ts";
import { hasMoreItems } from "../../core/json/scan.ts";
import { FORMATS } from "./formats.ts";

/** The check of a strict schema, which is compiled when it is first used. */
export interface SchemaCheck {
  /** Number of schemas and `enum` values, to which the time to compile it is proportional. */
  readonly nodes: number;
  /** Returns what a JSON text is instead of an object of the schema, as words; null if it is one. */
  problem(text: string): string | null;
}

/** Maximum number of members and elements of a JSON text that is checked. */
const MAX_CHECKED_ITEMS = 100_000;

/**
 * Returns the check of a schema that holds known keywords only. References are `#/definitions/d<index>`.
 * The compiler is not shared between requests, because it stores each schema for ever.
 */
export function newSchemaCheck(
  root: JsonObject,
  definitions: readonly JsonObject[],
  nodes: number,
): SchemaCheck {
  let validate: ((value: unknown) => boolean) | null = null;

  function compiled(): (value: unknown) => boolean {
    validate ??= newCompiler().compile({
      ...root,
      ...definitions.length > 0 &&
        { definitions: Object.fromEntries(definitions.map((one, at) => [`d${at}`, one])) },
    });
    return validate;
  }

  return {
    nodes,
    problem(text) {
      if (hasMoreItems(text, MAX_CHECKED_ITEMS)) return "too large to be checked";
      const value = parseJson(text);
      if (!isObject(value) || isTooDeep(value)) return "no JSON object";
      return compiled()(value) ? null : "no object of the schema";
    },
  };
}

function newCompiler(): Ajv {
  return new Ajv({
    formats: FORMATS,
    // The keywords are known and their values are valid already.
    meta: false,
    validateSchema: false,
    strict: false,
    strictNumbers: true,
    addUsedSchema: false,
    // Without both, a reference would multiply the code.
    inlineRefs: false,
    code: { optimize: false },
    ownProperties: true,
    messages: false,
    // 0.3 is a multiple of 0.1 for JSON, not for binary floating point.
    multipleOfPrecision: 9,
    logger: false,
  });
}
