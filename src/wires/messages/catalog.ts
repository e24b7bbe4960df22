import { isObject, parseJson } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { malformed } from "./errors.ts";

/** Where the list of models is, below the base; one page holds them all (Messages API, models). */
export const MODELS_PATH = "/v1/models?limit=1000";

/** The model ids of an answer to GET /v1/models, each once, in the order given; no list is a failure. */
export function decodeModels(text: string): Result<readonly string[]> {
  const body = parseJson(text);
  if (!isObject(body) || !Array.isArray(body.data)) return malformed("no list of models");
  const ids = body.data.flatMap((entry) => {
    const id = isObject(entry) ? entry.id : undefined;
    return typeof id === "string" && id !== "" ? [id] : [];
  });
  return success([...new Set(ids)]);
}
