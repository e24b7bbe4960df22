import { z } from "zod";
import { isObject, type JsonObject } from "../core/json/json.ts";
import type { Path } from "./problems.ts";
import { configSchema } from "./schema.ts";
import { widened } from "./widened_schema.ts";

let typed: JsonObject | null = null;

/**
 * Returns the JSON Schema (draft 2020-12) of the file in which every value has its final type: no
 * variables, no empty sections. Rules between keys are not in it. Built once.
 */
export function typedJsonSchema(): JsonObject {
  return typed ??= newTypedSchema();
}

function newTypedSchema(): JsonObject {
  const schema: unknown = z.toJSONSchema(configSchema, {
    io: "input",
    target: "draft-2020-12",
    override: ({ jsonSchema }) => {
      // The limits of the platform say nothing to a reader.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return isObject(schema) ? { title: "Switchyard configuration", ...schema } : {};
}

/** The JSON Schema of the file as it may be written, for editors: all that the gateway reads is valid. */
export function configJsonSchema(): JsonObject {
  return { ...widened(typedJsonSchema()), patternProperties: { "^x-": {} } };
}

/** Gives the keys that may stand in the mapping at a place; none when any may. */
export type KnownKeys = (path: Path) => readonly string[];

/** Looks keys up in the schema. */
export function newKnownKeys(): KnownKeys {
  return (path) => {
    const schema = path.reduce<unknown>(schemaBelow, typedJsonSchema());
    return isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
  };
}

/** The schema of a member or an element of what has this schema; undefined when there is none. */
export function schemaBelow(schema: unknown, step: string | number): unknown {
  if (!isObject(schema)) return undefined;
  if (typeof step === "number") return schema.items;
  const { properties, additionalProperties } = schema;
  return isObject(properties) && Object.hasOwn(properties, step)
    ? properties[step]
    : additionalProperties;
}
