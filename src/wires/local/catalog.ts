import { isFilledText, isObject, parseJson } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { malformed } from "./errors.ts";

/** Path of the model list, relative to the base URL. */
export const TAGS_PATH = "/api/tags";

/**
 * Returns the model IDs of a GET /api/tags response, with tags, each once, in their order. A
 * missing or null list means an empty server; any other value is a failure.
 */
export function decodeTags(text: string): Result<readonly string[]> {
  const body = parseJson(text);
  if (!isObject(body)) return malformed("a model list that is no JSON object");
  const models = body.models ?? [];
  if (!Array.isArray(models)) return malformed("a model list that is no list");
  const ids = models.flatMap((entry) => {
    const name = isObject(entry) ? [entry.name, entry.model].find(isFilledText) : undefined;
    return name === undefined ? [] : [name];
  });
  return success([...new Set(ids)]);
}
