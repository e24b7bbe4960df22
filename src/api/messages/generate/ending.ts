import type { FinishReason, Usage } from "../../../core/stream/events.ts";
import type { JsonObject } from "../../../core/json/json.ts";

/** Facts that decide how a message ended. */
export interface Ending {
  readonly reason: FinishReason;
  /** The stop text before which the gateway ended the response; null for none. */
  readonly stopText: string | null;
  readonly hasCalls: boolean;
  /** Text of the refusal; empty for none. */
  readonly refusal: string;
}

/**
 * Returns the `stop_reason`, `stop_sequence` and `stop_details` of a message (Messages API, stop
 * reasons).
 */
export function stopFields({ reason, stopText, hasCalls, refusal }: Ending): JsonObject {
  const isRefused = reason === "content_filter" || refusal !== "";
  const isStopped = !isRefused && !hasCalls && stopText !== null;
  return {
    stop_reason: isRefused ? "refusal" : isStopped ? "stop_sequence" : stopReason(reason, hasCalls),
    stop_sequence: isStopped ? stopText : null,
    stop_details: isRefused
      ? { type: "refusal", category: null, explanation: refusal === "" ? null : refusal }
      : null,
  };
}

function stopReason(reason: FinishReason, hasCalls: boolean): string {
  if (reason === "length") return "max_tokens";
  return hasCalls ? "tool_use" : "end_turn";
}

/** Service tiers with a counterpart in the Messages API. */
const TIERS: Readonly<Record<string, string>> = { default: "standard", priority: "priority" };

/**
 * Returns token counts as the `usage` of a message. The three input counts never overlap: their sum
 * is the prompt. A count that the upstream has not sent is zero, because the API has no null.
 */
export function messageUsage(usage: Usage | null): JsonObject {
  const { input = 0, output = 0, cached = 0, cacheWrite = 0, reasoning = 0 } = usage ?? {};
  const tier = TIERS[usage?.serviceTier ?? ""];
  return {
    input_tokens: Math.max(0, input - cached - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    output_tokens: output,
    ...reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } },
    ...tier !== undefined && { service_tier: tier },
  };
}
