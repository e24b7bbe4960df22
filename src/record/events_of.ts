import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import { newSseFraming } from "../formats/sse.ts";
import type { CallRecord } from "./record.ts";

/**
 * Returns the JSON objects of a recorded response: of its events, or the one that it is. Of those
 * whose text does not match `wanted` none is read.
 */
export function responseObjects(
  response: CallRecord["response"],
  wanted?: RegExp,
): readonly JsonObject[] {
  if (response === undefined) return [];
  if (response.body !== null) return objectIn(response.body, wanted);
  if (response.events === null) return [];
  const framing = newSseFraming();
  return [...framing.push(response.events), ...framing.end()]
    .flatMap(({ data }) => objectIn(data, wanted));
}

function objectIn(text: string, wanted?: RegExp): JsonObject[] {
  if (wanted?.test(text) === false) return [];
  // Most texts that are none are the end of a stream or a comment.
  const value = /^\s*\{/.test(text) ? parseJson(text) : undefined;
  return isObject(value) ? [value] : [];
}
