import { isObject, type JsonObject, numberOf } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { malformed } from "../openai/errors.ts";
import type { Optional } from "../../prompt/refusals.ts";
import type { SectionInput } from "./controls.ts";

/** Returns `top_logprobs`, which the upstream sends only with its `include` value. */
export function logprobs(
  { prompt: { logprobs: { isWanted, top } }, carrier }: SectionInput,
): Result<JsonObject> {
  if (isWanted) return success(top === null ? {} : { top_logprobs: top.exact });
  return top === null || top.value === 0
    ? success({})
    : carrier.refusePair(top.at.path, "'top_logprobs' needs 'logprobs: true'.");
}

/** Returns the logprobs of a text in the form of Chat; an empty list if absent. */
export function decodeTokens(given: Optional): Result<readonly JsonObject[]> {
  const list = given ?? [];
  if (!Array.isArray(list)) return malformed("log probabilities that are no list");
  const tokens: JsonObject[] = [];
  for (const item of list) {
    const token = decodeToken(item);
    const others = isObject(item) ? item.top_logprobs ?? [] : null;
    if (token === null || !Array.isArray(others)) return malformed("malformed log probabilities");
    const known = others.map(decodeToken).filter((other) => other !== null);
    tokens.push({ ...token, top_logprobs: known });
  }
  return success(tokens);
}

/** Returns a token with its logprob; null if it has neither field: stream events may omit both. */
function decodeToken(given: Optional): JsonObject | null {
  if (!isObject(given)) return null;
  const { token, logprob } = given;
  if (typeof token !== "string" || numberOf(logprob) === null) return null;
  // `bytes` is null if absent, as in stream events.
  return { token, logprob, bytes: given.bytes ?? null };
}
