import type { FinishReason, StreamEvent, Usage } from "../../core/stream/events.ts";
import { isExactId } from "../../core/ids.ts";
import { isObject, type JsonObject, numberOf } from "../../core/json/json.ts";
import type { Fault } from "../../core/failure/failure.ts";
import { type Failed, type Result, success } from "../../core/failure/result.ts";
import { malformed } from "../openai/errors.ts";
import type { IdSource } from "../wire.ts";
import { reportedFault } from "./errors.ts";
import { decodeModeration } from "./moderation.ts";
import { parseResponseUsage } from "../openai/responses_usage.ts";
import { mergeUsage } from "../reported_usage.ts";

/** Returns the first event of a response. Fails if the value is not a response with an ID. */
export function decodeStart(
  { object, id, model, created_at }: JsonObject,
  idSource: IdSource,
): Result<StreamEvent & { readonly type: "start" }> {
  if (object !== "response") return malformed("a response that is no response object");
  if (!isExactId(id)) return malformed("a response without an id");
  const created = numberOf(created_at);
  return success({
    type: "start",
    id,
    model: typeof model === "string" ? model : "",
    created: created !== null && created > 0 ? Math.floor(created) : idSource.unix(),
  });
}

/** Returns the fault that a response reports; null if it reports none. */
export function findFailure({ status, error }: JsonObject): Failed<Fault> | null {
  return status === "failed" || (error ?? null) !== null ? reportedFault(error) : null;
}

/**
 * Returns the last events of a response: usage and finish. Fails unless the response is completed,
 * or incomplete for a known reason, because it may be truncated. `earlier` are the counts in the
 * events before.
 */
export function decodeEnd(
  response: JsonObject,
  hasCalls: boolean,
  earlier: Usage | null = null,
): Result<readonly StreamEvent[]> {
  const reason = parseFinishReason(response, hasCalls);
  if (reason === null) return malformed("a response without a known end");
  const moderated = decodeModeration(response.moderation);
  if (!moderated.ok) return moderated;
  const moderation = moderated.value;
  const usage = parseResponseUsage(response);
  if (!usage.ok) return usage;
  const counted = mergeUsage(earlier, usage.value);
  const used = counted === null ? [] : [{ type: "usage" as const, usage: counted }];
  return success([...used, { type: "finish", reason, ...moderation !== null && { moderation } }]);
}

function parseFinishReason(
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
