import { isObject, type JsonDocument, type JsonObject, parseExact } from "../../core/json.ts";

/** The body of a request in which numbers keep their text; ask `numberOf` for figures. */
export function exactBody({ text, value }: JsonDocument): JsonObject {
  const exact = parseExact(text);
  return isObject(exact) ? exact : value;
}
