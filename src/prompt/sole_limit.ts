import { type Result, success } from "../core/failure/result.ts";
import type { GivenNumber, Limits } from "./prompt.ts";
import { contradiction, wrongValue } from "./refusals.ts";

/**
 * Returns the limit of the response for protocols that have one field for it, which permits at
 * least one token; null if the request sets none.
 */
export function soleLimit({ completion, legacy }: Limits): Result<GivenNumber | null> {
  for (const limit of [completion, legacy]) {
    if (limit !== null && limit.value < 1) return wrongValue(limit.at.path, "at least 1");
  }
  if (completion !== null && legacy !== null && completion.value !== legacy.value) {
    return contradiction(
      legacy.at.path,
      "'max_tokens' and 'max_completion_tokens' must be equal when both are sent.",
    );
  }
  return success(completion ?? legacy);
}
