import { isObject, parseJson } from "../../core/json/json.ts";
import { fault, type Result, success } from "../../core/result.ts";

/** Where the list of models is, below the base. */
export const MODELS_PATH = "/models";

/**
 * The model ids of an answer to GET /models, each once, in the order given; some servers send the
 * bare list without its object. Entries without an id are skipped; no list at all is a failure.
 */
export function decodeModels(text: string): Result<readonly string[]> {
  const body = parseJson(text);
  const models = isObject(body) ? body.data : body;
  if (!Array.isArray(models)) {
    return fault("invalid_upstream_response", "The upstream's answer is no list of models.");
  }
  const ids = models.flatMap((entry) => {
    const id = isObject(entry) ? entry.id : undefined;
    return typeof id === "string" && id !== "" ? [id] : [];
  });
  return success([...new Set(ids)]);
}
