import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { missing, type Optional, unknownMember, wrongType } from "./refusals.ts";

/** Everything that a `json_schema` may hold (OpenAI API, structured outputs). */
export const JSON_SCHEMA_MEMBERS = ["name", "description", "schema", "strict"] as const;

/** The schema within the `json_schema` of a response format; a Refusal names what is wrong with it. */
export function schemaOf(given: Optional, path: string): Result<JsonObject> {
  if ((given ?? null) === null) return missing(path);
  if (!isObject(given)) return wrongType(path, "an object");
  const unknown = unknownMember(given, JSON_SCHEMA_MEMBERS, path);
  if (unknown !== null) return unknown;
  const schema = given.schema ?? null;
  if (schema === null) return missing(`${path}.schema`);
  return isObject(schema) ? success(schema) : wrongType(`${path}.schema`, "an object");
}
