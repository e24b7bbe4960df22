import type { Usage } from "../../core/events.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json.ts";

/** The counts of a `usage` object of Chat Completions; what it does not tell is zero. */
export function usageOf(usage: JsonObject): Usage {
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const completion = isObject(usage.completion_tokens_details)
    ? usage.completion_tokens_details
    : {};
  const input = count(usage.prompt_tokens);
  const output = count(usage.completion_tokens);
  return {
    input,
    output,
    total: typeof usage.total_tokens === "number" ? usage.total_tokens : input + output,
    cached: count(prompt.cached_tokens),
    cacheWrite: count(prompt.cache_write_tokens),
    reasoning: count(completion.reasoning_tokens),
  };
}

function count(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}
