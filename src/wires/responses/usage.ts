import type { Usage } from "../../core/events.ts";
import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json.ts";

/**
 * The counts of a Response object; what it does not tell is zero. Null when it tells none (Responses
 * API, the Response object).
 */
export function responseUsage({ usage, service_tier: tier }: JsonObject): Usage | null {
  if (!isObject(usage)) return null;
  const input = count(usage.input_tokens);
  const output = count(usage.output_tokens);
  return {
    input,
    output,
    total: numberOf(usage.total_tokens) ?? input + output,
    cached: detail(usage.input_tokens_details, "cached_tokens"),
    cacheWrite: detail(usage.input_tokens_details, "cache_write_tokens"),
    reasoning: detail(usage.output_tokens_details, "reasoning_tokens"),
    ...typeof tier === "string" && { serviceTier: tier },
  };
}

function detail(details: JsonValue | undefined, key: string): number {
  return isObject(details) ? count(details[key]) : 0;
}

function count(value: JsonValue | undefined): number {
  return numberOf(value) ?? 0;
}
