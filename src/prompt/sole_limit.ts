import { type Result, success } from "../core/failure/result.ts";
import type { Carrier } from "./carry.ts";
import type { GivenNumber, Limits } from "./prompt.ts";

/**
 * Returns the limit of the response for protocols that have one field for it, which permits at
 * least one token; null if the request sets none.
 */
export function soleLimit(
  { completion, legacy }: Limits,
  carrier: Carrier,
): Result<GivenNumber | null> {
  for (const limit of [completion, legacy]) {
    if (limit !== null && limit.value < 1) {
      return carrier.refuseValue(limit.at.path, "must be at least 1");
    }
  }
  if (completion !== null && legacy !== null && completion.value !== legacy.value) {
    return carrier.refusePair(
      legacy.at.path,
      "'max_tokens' and 'max_completion_tokens' must be equal when both are sent.",
    );
  }
  return success(completion ?? legacy);
}
