import { isObject, type JsonDocument, type JsonObject, parseExact } from "../../core/json/json.ts";

/**
 * Cache of parsed bodies: the request, its translations and its Response object share one parse.
 */
const known = new WeakMap<JsonDocument, JsonObject>();

/** Returns the request body with numbers in their original text; `numberOf` converts them. */
export function exactBody(document: JsonDocument): JsonObject {
  const before = known.get(document);
  if (before !== undefined) return before;
  const exact = parseExact(document.text, document.value);
  const body = isObject(exact) ? exact : document.value;
  known.set(document, body);
  return body;
}
