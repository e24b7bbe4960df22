import type { Usage } from "../../core/events.ts";
import type { JsonObject } from "../../core/json.ts";

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
