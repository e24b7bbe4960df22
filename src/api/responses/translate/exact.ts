import {
  isObject,
  type JsonDocument,
  type JsonObject,
  parseExact,
} from "../../../core/json/json.ts";

/** A body is asked for by its request, its translations and its resource, and read once for all. */
const known = new WeakMap<JsonDocument, JsonObject>();

/** The body of a request in which numbers keep their text; ask `numberOf` for figures. */
export function exactBody(document: JsonDocument): JsonObject {
  const before = known.get(document);
  if (before !== undefined) return before;
  const exact = parseExact(document.text);
  const body = isObject(exact) ? exact : document.value;
  known.set(document, body);
  return body;
}
