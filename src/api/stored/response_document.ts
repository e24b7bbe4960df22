import type { HeaderFields } from "../../core/header_fields.ts";
import {
  isObject,
  isTooDeep,
  type JsonDocument,
  type JsonText,
  parseJson,
} from "../../core/json/json.ts";
import type { UpstreamResponse } from "../../core/stream/reply.ts";
import { invalidResponse, type Result, success } from "../../core/failure/result.ts";
import { parseMembers } from "../../formats/edit.ts";
import { utf8Text } from "../../formats/utf8.ts";

/**
 * Parses an upstream response as a JSON object; a fault if it is not an object or nested too
 * deeply.
 */
export function parseResponseDocument(
  response: Pick<UpstreamResponse, "body">,
): Result<JsonDocument> {
  const parsed = parseResponseText(response);
  if (!parsed.ok) return parsed;
  const { text, value } = parsed.value;
  return success({ text, value, members: parseMembers(text) });
}

/**
 * Parses an upstream response like `parseResponseDocument`, without the places of its members: to
 * find them takes as long as the parse.
 */
export function parseResponseText({ body }: Pick<UpstreamResponse, "body">): Result<JsonText> {
  const text = utf8Text(body);
  const value = text === null ? undefined : parseJson(text);
  return text !== null && isObject(value) && !isTooDeep(value)
    ? success({ text, value })
    : invalidResponse("The provider's response is not a JSON object.");
}

/** True if an upstream response is a JSON list that is not nested too deeply. */
export function isResponseList({ body }: Pick<UpstreamResponse, "body">): boolean {
  const text = utf8Text(body);
  const value = text === null ? undefined : parseJson(text);
  return Array.isArray(value) && !isTooDeep(value);
}

/**
 * Returns the headers of a response that was read as JSON: the provider's content type with its
 * parameters if it is one of JSON, else `application/json`.
 */
export function jsonHeaders({ headers }: Pick<UpstreamResponse, "headers">): HeaderFields {
  const { "content-type": type = "", ...rest } = headers();
  const [bare = ""] = type.split(";", 1);
  const isJson = isJsonType(bare.trim().toLowerCase());
  return { ...rest, "content-type": isJson ? type : "application/json" };
}

/**
 * True if a content type in lower case, without parameters, is one of JSON (RFC 6839, section 3.1).
 */
export function isJsonType(contentType: string): boolean {
  return contentType === "application/json" || contentType.endsWith("+json");
}
