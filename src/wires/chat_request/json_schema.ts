import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { missing, type Optional, unknownMember, wrongType } from "./refusals.ts";

/** All fields of a `json_schema` object (OpenAI API, structured outputs). */
export const JSON_SCHEMA_MEMBERS = ["name", "description", "schema", "strict"] as const;

/** Returns the schema in the `json_schema` object of a response format. A Refusal names the wrong field. */
export function parseSchema(given: Optional, path: string): Result<JsonObject> {
  if ((given ?? null) === null) return missing(path);
  if (!isObject(given)) return wrongType(path, "an object");
  const unknown = unknownMember(given, JSON_SCHEMA_MEMBERS, path);
  if (unknown !== null) return unknown;
  const schema = given.schema ?? null;
  if (schema === null) return missing(`${path}.schema`);
  return isObject(schema) ? success(schema) : wrongType(`${path}.schema`, "an object");
}
