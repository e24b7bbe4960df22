import { isObject, isTooDeep, type JsonDocument, parseJson } from "../core/json/json.ts";
import type { UpstreamResponse } from "../core/reply.ts";
import { fault, type Result, success } from "../core/result.ts";
import { parseMembers } from "../formats/edit.ts";
import { utf8Text } from "../formats/utf8.ts";

/** Parses an upstream response as a JSON object; a fault if it is not an object or nested too deeply. */
export function parseResponseDocument(
  { body }: Pick<UpstreamResponse, "body">,
): Result<JsonDocument> {
  const text = utf8Text(body);
  const value = text === null ? undefined : parseJson(text);
  return text !== null && isObject(value) && !isTooDeep(value)
    ? success({ text, value, members: parseMembers(text) })
    : fault("invalid_upstream_response", "The provider's answer is not a JSON object.");
}
