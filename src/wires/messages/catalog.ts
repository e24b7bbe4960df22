import { malformed } from "../openai/errors.ts";
import { isObject, parseJson } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";

/**
 * Path of the model list, relative to the base URL. One page holds all models (Messages API,
 * models).
 */
export const MODELS_PATH = "/v1/models?limit=1000";

/**
 * Returns the model IDs of a GET /v1/models response, each once, in their order. A missing list is
 * a failure.
 */
export function decodeModels(text: string): Result<readonly string[]> {
  const body = parseJson(text);
  if (!isObject(body) || !Array.isArray(body.data)) return malformed("no list of models");
  const ids = body.data.flatMap((entry) => {
    const id = isObject(entry) ? entry.id : undefined;
    return typeof id === "string" && id !== "" ? [id] : [];
  });
  return success([...new Set(ids)]);
}
