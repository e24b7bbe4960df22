import type { Usage } from "../../core/stream/events.ts";
import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { fractionProblem, tokenCount, usageFrom } from "../token_counts.ts";

const COUNTS = [
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "prompt_cache_hit_tokens",
];

const PROMPT_DETAILS = [
  "cached_tokens",
  "cache_write_tokens",
  "audio_tokens",
  "text_tokens",
  "image_tokens",
];

const COMPLETION_DETAILS = [
  "reasoning_tokens",
  "audio_tokens",
  "text_tokens",
  "accepted_prediction_tokens",
  "rejected_prediction_tokens",
];

/**
 * Returns the counts of a `usage` object of Chat Completions; null if it has none. A fractional
 * count is a fault. Other fields may be any numbers, such as times and prices.
 */
export function parseUsage(usage: JsonObject): Result<Usage | null> {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage;
  const problem = fractionProblem(usage, COUNTS) ?? fractionProblem(prompt, PROMPT_DETAILS) ??
    fractionProblem(completion, COMPLETION_DETAILS);
  return problem ?? success(usageFrom({
    input: tokenCount(usage.prompt_tokens),
    output: tokenCount(usage.completion_tokens),
    total: tokenCount(usage.total_tokens),
    // DeepSeek sends the other member.
    cached: tokenCount(isObject(prompt) ? prompt.cached_tokens : usage.prompt_cache_hit_tokens),
    cacheWrite: isObject(prompt) ? tokenCount(prompt.cache_write_tokens) : null,
    reasoning: isObject(completion) ? tokenCount(completion.reasoning_tokens) : null,
  }));
}
