import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";

/** Keywords of the root schema that the runtime shows the model (local runtime, tools). */
const ROOT: ReadonlySet<string> = new Set(["type", "$defs", "items", "required", "properties"]);

/** Keywords of a property that the runtime shows the model. */
const PROPERTY: ReadonlySet<string> = new Set([
  "type",
  "anyOf",
  "items",
  "description",
  "enum",
  "properties",
  "required",
]);

/**
 * True if the model does not see a part of a tool's schema: the runtime accepts every keyword and
 * shows only some. Definitions and elements are sent to the model as they are.
 */
export function hidesKeyword(schema: JsonObject): boolean {
  const waiting = [{ schema, shown: ROOT }];
  // A queue instead of recursion: a schema may be nested hundreds of levels deep.
  for (const { schema, shown } of waiting) {
    if (Object.keys(schema).some((key) => !shown.has(key))) return true;
    for (const inner of innerSchemas(schema)) waiting.push({ schema: inner, shown: PROPERTY });
  }
  return false;
}

function innerSchemas({ properties, anyOf }: JsonObject): readonly JsonObject[] {
  const listed: readonly JsonValue[] = [
    ...isObject(properties) ? Object.values(properties) : [],
    ...Array.isArray(anyOf) ? anyOf : [],
  ].map((inner) => inner ?? null);
  return listed.filter(isObject);
}
