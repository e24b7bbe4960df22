import * as z from "zod";
import { isObject, type JsonObject } from "../core/json/json.ts";
import type { Path } from "./problems.ts";
import { configSchema } from "./schema.ts";
import { widened } from "./widened_schema.ts";

let typed: JsonObject | null = null;

/**
 * Returns the JSON Schema (draft 2020-12) of the file with the final type of each value: no
 * variables, no empty sections. It does not contain rules between keys. Built once.
 */
export function typedJsonSchema(): JsonObject {
  return typed ??= jsonSchemaOf(configSchema, "Switchyard configuration");
}

/** Returns the JSON Schema (draft 2020-12) of what a schema accepts. */
export function jsonSchemaOf(checked: z.ZodType, title: string): JsonObject {
  const schema: unknown = z.toJSONSchema(checked, {
    io: "input",
    target: "draft-2020-12",
    override: ({ jsonSchema }) => {
      // The integer limit of the platform is no rule of the format.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return isObject(schema) ? { title, ...schema } : {};
}

/** Returns the JSON Schema for editors: every file that the gateway accepts is valid. */
export function configJsonSchema(): JsonObject {
  return { ...widened(typedJsonSchema()), patternProperties: { "^x-": {} } };
}

/** Returns the known keys of the mapping at a path; none if any key is allowed. */
export type KnownKeys = (path: Path) => readonly string[];

/** Returns a lookup of known keys in the schema. */
export function newKnownKeys(): KnownKeys {
  return (path) => {
    const schema = path.reduce<unknown>(schemaBelow, typedJsonSchema());
    return isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
  };
}

/**
 * Returns the schema of a member or an item of a value with this schema; undefined if there is
 * none.
 */
export function schemaBelow(schema: unknown, step: string | number): unknown {
  if (!isObject(schema)) return undefined;
  if (typeof step === "number") return schema.items;
  const { properties, additionalProperties } = schema;
  return isObject(properties) && Object.hasOwn(properties, step)
    ? properties[step]
    : additionalProperties;
}
