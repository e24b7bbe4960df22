import type { FinishReason, StreamEvent, Usage } from "../../core/events.ts";
import { isObject, type JsonObject, numberOf } from "../../core/json.ts";
import type { Fault } from "../../core/failure.ts";
import { type Failed, type Result, success } from "../../core/result.ts";
import { malformed } from "../compat_errors.ts";
import type { Optional } from "../fields.ts";
import type { Mint } from "../wire.ts";
import { reportedFault } from "./errors.ts";

/** The event that a response begins with. */
export function startOf({ id, model, created_at }: JsonObject, mint: Mint): StreamEvent {
  const created = numberOf(created_at);
  return {
    type: "start",
    id: typeof id === "string" ? id : "",
    model: typeof model === "string" ? model : "",
    created: created !== null && created > 0 ? Math.floor(created) : mint.unix(),
  };
}

/** The failure that a response tells of itself; null when it tells none. */
export function failureOf({ status, error }: JsonObject): Failed<Fault> | null {
  return status === "failed" || (error ?? null) !== null ? reportedFault(error) : null;
}

/**
 * The events that end an answer: usage and finish. Fails unless the response is completed or
 * incomplete for a known reason, because the answer may be half of one.
 */
export function endOf(response: JsonObject, hasCalls: boolean): Result<readonly StreamEvent[]> {
  const reason = finishOf(response, hasCalls);
  if (reason === null) return malformed("a response without a known end");
  const usage = usageOf(response);
  const told = usage === null ? [] : [{ type: "usage" as const, usage }];
  return success([...told, { type: "finish", reason }]);
}

function finishOf(
  { status, incomplete_details: details }: JsonObject,
  hasCalls: boolean,
): FinishReason | null {
  if (status === "completed") return hasCalls ? "tool_calls" : "stop";
  if (status !== "incomplete" || !isObject(details)) return null;
  switch (details.reason) {
    case "max_output_tokens":
    case "max_messages":
      return "length";
    case "content_filter":
      return "content_filter";
    default:
      return null;
  }
}

/** Token counts; null without a usage object, for none is ever invented. */
function usageOf({ usage: given, service_tier: tier }: JsonObject): Usage | null {
  if (!isObject(given)) return null;
  const { input_tokens_details: inside, output_tokens_details: outside } = given;
  const input = countOf(given.input_tokens);
  const output = countOf(given.output_tokens);
  return {
    input,
    output,
    total: numberOf(given.total_tokens) ?? input + output,
    cached: isObject(inside) ? countOf(inside.cached_tokens) : 0,
    cacheWrite: isObject(inside) ? countOf(inside.cache_write_tokens) : 0,
    reasoning: isObject(outside) ? countOf(outside.reasoning_tokens) : 0,
    ...typeof tier === "string" && { serviceTier: tier },
  };
}

function countOf(given: Optional): number {
  return numberOf(given) ?? 0;
}
