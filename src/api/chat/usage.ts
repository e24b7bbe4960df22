import type { Usage } from "../../core/events.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json.ts";

/** Token counts as the `usage` object of Chat Completions, the details always present. */
export function chatUsage(usage: Usage): JsonObject {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.total,
    prompt_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cacheWrite },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

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
