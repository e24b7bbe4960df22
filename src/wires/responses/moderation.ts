import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { malformed } from "../openai/errors.ts";
import type { Optional } from "../../prompt/refusals.ts";

/**
 * Returns the moderation results of input and output in the form of Chat, which has lists of
 * results; null if nothing was moderated. Fails on an unknown result type, because a result must
 * not be dropped.
 */
export function decodeModeration(given: Optional): Result<JsonObject | null> {
  if ((given ?? null) === null) return success(null);
  const found = isObject(given) ? given : {};
  const input = decodeFinding(found.input ?? null);
  const output = decodeFinding(found.output ?? null);
  return input === null || output === null
    ? malformed("a moderation that Chat Completions has no place for")
    : success({ input, output });
}

function decodeFinding(given: JsonValue): JsonObject | null {
  if (!isObject(given)) return null;
  const { type, model } = given;
  if (type === "moderation_result") return { type: "moderation_results", model, results: [given] };
  return type === "error" ? given : null;
}
