import type { Refusal } from "../../../core/failure/failure.ts";
import { isObject, type JsonObject } from "../../../core/json/json.ts";
import { type Failed, type Result, success } from "../../../core/failure/result.ts";
import { findMember, type Span } from "../../../formats/edit.ts";
import { type Optional, unsupported } from "../../../prompt/refusals.ts";
import { wrongType } from "../refusals.ts";
import { shown } from "../sentences.ts";
import { MESSAGES_FIELDS } from "./fields.ts";

/** Path of an object of a Messages request. */
type Holder = Parameters<(typeof MESSAGES_FIELDS)["members"]>[0];

/**
 * Returns the refusal of the first unknown member that is not null. An unknown member of another
 * version of the API would be lost.
 */
export function unknownIn(
  value: JsonObject,
  holder: Holder,
  path: string,
): Failed<Refusal> | null {
  const known = MESSAGES_FIELDS.members(holder);
  for (const key in value) {
    if ((value[key] ?? null) !== null && !known.includes(key)) {
      return unsupported(`${path}.${shown(key)}`);
    }
  }
  return null;
}

/** Returns a text that must be there. */
export function textAt(given: Optional, path: string): Result<string> {
  return typeof given === "string" ? success(given) : wrongType(given, path, "a valid string");
}

/** Returns an object that must be there. */
export function objectAt(given: Optional, path: string): Result<JsonObject> {
  return isObject(given) ? success(given) : wrongType(given, path, "a valid dictionary");
}

/** Returns true or false; null if it is absent. */
export function flagAt(given: Optional, path: string): Result<boolean | null> {
  const flag = given ?? null;
  return flag === null || typeof flag === "boolean"
    ? success(flag)
    : wrongType(flag, path, "a valid boolean");
}

/** Returns the text of a member of the object at a span; null if it has no such member. */
export function memberText(text: string, span: Span | undefined, key: string): string | null {
  const member = span && findMember(text, span.start, key);
  return member === undefined ? null : text.slice(member.start, member.end);
}
