import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { FALSE, NUMBER, TRUE } from "./fields.ts";
import { DURATION } from "./units.ts";

/** Schema of text with a variable, whose value can have any type. */
const VARIABLE = { type: "string", pattern: "\\$\\{" };

const NUMBER_TEXT = { type: "string", pattern: anyOfThese(NUMBER) };
const FLAG_TEXT = { type: "string", pattern: anyOfThese(TRUE, FALSE) };

/** Returns one pattern for all of these, with blanks around it: the parser trims them. */
function anyOfThese(...patterns: readonly RegExp[]): string {
  return `^\\s*(?:${patterns.map(({ source }) => source.replace(/^\^|\$$/g, "")).join("|")})\\s*$`;
}

/**
 * Returns the schema with the other accepted forms of each type: text with a variable, a number as
 * text, a number where text is expected, and null for a section.
 */
export function widened(schema: JsonObject): JsonObject {
  switch (schema.type) {
    case "object":
      return widenedObject(schema);
    case "array":
      return { ...schema, items: widenedValue(schema.items) };
    case "integer":
    case "number":
      return anyOf(schema, [VARIABLE, NUMBER_TEXT]);
    case "boolean":
      return anyOf(schema, [VARIABLE, FLAG_TEXT]);
    case "string":
      return widenedText(schema);
    default:
      return schema;
  }
}

function widenedObject(schema: JsonObject): JsonObject {
  const { properties, additionalProperties } = schema;
  return {
    ...schema,
    ...isObject(properties) && { properties: mapped(properties) },
    ...isObject(additionalProperties) && { additionalProperties: orNull(additionalProperties) },
  };
}

function mapped(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, orNull(value)]));
}

/** Returns the schema of a member, with null if its section may be empty. */
function orNull(schema: JsonValue | undefined): JsonValue {
  const wide = widenedValue(schema);
  return isObject(wide) && isEmptyAllowed(wide) && typeof wide.type === "string"
    ? { ...wide, type: [wide.type, "null"] }
    : wide;
}

function widenedValue(schema: JsonValue | undefined): JsonValue {
  return isObject(schema) ? widened(schema) : schema ?? {};
}

/** True if null is accepted as an empty mapping or an empty list for this schema. */
export function isEmptyAllowed({ type, minItems, default: usual = [] }: JsonObject): boolean {
  const isEmptyList = minItems === undefined && Array.isArray(usual) && usual.length === 0;
  return type === "object" || type === "array" && isEmptyList;
}

/**
 * True if a number or a boolean is accepted as text for this schema. A duration requires its unit.
 */
export function isTextMeant({ type, pattern }: JsonObject): boolean {
  return type === "string" && pattern !== DURATION.source;
}

function widenedText(schema: JsonObject): JsonObject {
  const isFree = schema.pattern === undefined && schema.enum === undefined;
  const others = [
    ...isFree ? [] : [VARIABLE],
    ...isTextMeant(schema) ? [{ type: "number" }, { type: "boolean" }] : [],
  ];
  return anyOf(schema, others);
}

/**
 * Returns a choice of schemas. Description and default stay outside it, because editors read them
 * there.
 */
function anyOf(schema: JsonObject, others: readonly JsonObject[]): JsonObject {
  const { description, default: usual, ...type } = schema;
  return {
    ...description !== undefined && { description },
    ...usual !== undefined && { default: usual },
    anyOf: [type, ...others],
  };
}
