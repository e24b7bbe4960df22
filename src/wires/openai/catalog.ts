import { isObject, parseJson } from "../../core/json/json.ts";
import { invalidResponse, type Result, success } from "../../core/failure/result.ts";

/** Path of the model list, relative to the base URL. */
export const MODELS_PATH = "/models";

/**
 * Returns the model IDs of a GET /models response, each once, in their order. Some servers send the
 * bare list without its object. Entries without an ID are skipped; a missing list is a failure.
 */
export function decodeModels(text: string): Result<readonly string[]> {
  const body = parseJson(text);
  const models = isObject(body) ? body.data : body;
  if (!Array.isArray(models)) {
    return invalidResponse("The provider's response is no list of models.");
  }
  const ids = models.flatMap((entry) => {
    const id = isObject(entry) ? entry.id : undefined;
    return typeof id === "string" && id !== "" ? [id] : [];
  });
  return success([...new Set(ids)]);
}
