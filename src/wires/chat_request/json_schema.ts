import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { COMMON } from "./common_rows.ts";
import type { Losses } from "./losses.ts";
import { missing, type Optional, unknownMember, wrongType } from "./refusals.ts";

/** All fields of a `json_schema` object (OpenAI API, structured outputs). */
export const JSON_SCHEMA_MEMBERS = COMMON.members("response_format[json_schema].json_schema");

/**
 * Records which members of a `json_schema` object beside its schema are lost: the labels, and
 * `strict` if it has one of these values.
 */
export function addSchemaLosses(
  given: Optional,
  lostStrict: readonly boolean[],
  losses: Losses,
): void {
  if (!isObject(given)) return;
  const { name, description, strict } = given;
  const at = "response_format.json_schema";
  if ((name ?? null) !== null) losses.add(`${at}.name`);
  if ((description ?? null) !== null) losses.add(`${at}.description`);
  if (lostStrict.some((lost) => lost === strict)) losses.add(`${at}.strict`);
}

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
