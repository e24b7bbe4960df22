import type { Usage } from "../../core/stream/events.ts";
import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { fractionProblem, tokenCount, usageFrom } from "../token_counts.ts";

const COUNTS = ["input_tokens", "output_tokens", "total_tokens"];
const INPUT_DETAILS = ["cached_tokens", "cache_write_tokens"];
const OUTPUT_DETAILS = ["reasoning_tokens"];

/**
 * Returns the counts of a Response object; null if it has none. A fractional count is a fault
 * (Responses API, the Response object).
 */
export function parseResponseUsage(
  { usage, service_tier: tier }: JsonObject,
): Result<Usage | null> {
  if (!isObject(usage)) return success(null);
  const { input_tokens_details: input, output_tokens_details: output } = usage;
  const problem = fractionProblem(usage, COUNTS) ?? fractionProblem(input, INPUT_DETAILS) ??
    fractionProblem(output, OUTPUT_DETAILS);
  if (problem !== null) return problem;
  const counted = usageFrom({
    input: tokenCount(usage.input_tokens),
    output: tokenCount(usage.output_tokens),
    total: tokenCount(usage.total_tokens),
    cached: isObject(input) ? tokenCount(input.cached_tokens) : null,
    cacheWrite: isObject(input) ? tokenCount(input.cache_write_tokens) : null,
    reasoning: isObject(output) ? tokenCount(output.reasoning_tokens) : null,
  });
  if (counted === null || typeof tier !== "string") return success(counted);
  return success({ ...counted, serviceTier: tier });
}
