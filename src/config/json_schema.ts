import { z } from "zod";
import { isObject, type JsonObject } from "../core/json.ts";
import type { Path } from "./problems.ts";
import { configSchema } from "./schema.ts";

/** The JSON Schema (draft 2020-12) of the file as it may be written. Rules between keys are not in it. */
export function configJsonSchema(): JsonObject {
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

/** Gives the keys that may stand in the mapping at a place; none when any may. */
export type KnownKeys = (path: Path) => readonly string[];

/** Looks keys up; the schema is built once, at the first question. */
export function newKnownKeys(): KnownKeys {
  let root: JsonObject | null = null;
  return (path) => {
    root ??= configJsonSchema();
    let schema: unknown = root;
    for (const step of path) schema = inner(schema, step);
    return isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
  };
}

function inner(schema: unknown, step: string | number): unknown {
  if (!isObject(schema)) return undefined;
  if (typeof step === "number") return schema.items;
  const { properties, additionalProperties } = schema;
  return isObject(properties) && Object.hasOwn(properties, step)
    ? properties[step]
    : additionalProperties;
}
