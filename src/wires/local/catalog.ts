import { isObject, parseJson } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { malformed } from "./errors.ts";

/** Where the list of models is, below the base. */
export const TAGS_PATH = "/api/tags";

/**
 * The model ids of an answer to GET /api/tags, tags kept, each once, in the order given. A list that
 * is missing or null is that of an empty server; anything else that is no list is a failure.
 */
export function decodeTags(text: string): Result<readonly string[]> {
  const body = parseJson(text);
  if (!isObject(body)) return malformed("a model list that is no JSON object");
  const models = body.models ?? [];
  if (!Array.isArray(models)) return malformed("a model list that is no list");
  const ids = models.flatMap((entry) => {
    const name = isObject(entry) ? [entry.name, entry.model].find(isName) : undefined;
    return name === undefined ? [] : [name];
  });
  return success([...new Set(ids)]);
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
