import type { ProviderConfig } from "../../config/schema.ts";
import { isObject, type JsonObject } from "../../core/json/json.ts";
import type { ResponsePromise } from "./response_promise.ts";
import { parseStrictSchema } from "./strict_schema.ts";

/** Path of the flag of a strict response format. */
const STRICT_PATH = "response_format.json_schema.strict";

/**
 * Returns the promise of a strict response format (OpenAI API, structured outputs), which the gateway checks
 * although the upstream enforces it. A schema that cannot be checked has none: then only the upstream
 * enforces it. `body` has its numbers as numbers.
 */
export function schemaPromises(
  { response_format: format }: JsonObject,
  { verify, capabilities }: ProviderConfig,
): readonly ResponsePromise[] {
  if (!verify || !capabilities.structured_outputs || !isObject(format)) return [];
  const { type, json_schema: named } = format;
  if (type !== "json_schema" || !isObject(named) || named.strict !== true) return [];
  if (!isObject(named.schema)) return [];
  const schema = parseStrictSchema(named.schema, STRICT_PATH);
  return schema.ok ? [{ kind: "json_schema", path: STRICT_PATH, schema: schema.value }] : [];
}
