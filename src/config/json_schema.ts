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

/** The keys that may stand in the mapping at this place; empty when any may. */
export function knownKeys(path: Path): readonly string[] {
  let schema: unknown = configJsonSchema();
  for (const step of path) schema = inner(schema, step);
  return isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
}

function inner(schema: unknown, step: string | number): unknown {
  if (!isObject(schema)) return undefined;
  if (typeof step === "number") return schema.items;
  const { properties, additionalProperties } = schema;
  return isObject(properties) && Object.hasOwn(properties, step)
    ? properties[step]
    : additionalProperties;
}
