import type { Usage } from "../../core/stream/events.ts";
import type { JsonObject } from "../../core/json/json.ts";

/**
 * Returns token counts as the `usage` object of Chat Completions. The details are always present; a
 * count that the upstream has not sent is absent.
 */
export function chatUsage(usage: Usage): JsonObject {
  return {
    ...usage.unknown !== "input" && { prompt_tokens: usage.input },
    ...usage.unknown !== "output" && { completion_tokens: usage.output },
    ...usage.total !== null && { total_tokens: usage.total },
    prompt_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cacheWrite },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}
