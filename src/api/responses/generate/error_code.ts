import {
  type Failure,
  FAULTS,
  isRefusal,
  REFUSALS,
  statusOf,
} from "../../../core/failure/failure.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { messageOf } from "../../../core/failure/openai_error.ts";

/**
 * Returns the `error` of a failed response (Responses API, the Response object): its codes are a
 * closed list, by which clients decide whether they repeat the request. Some clients also require a
 * `type`.
 */
export function responseError(failure: Failure, message: string = messageOf(failure)): JsonObject {
  const status = statusOf(failure);
  if (status === 429) return { code: "rate_limit_exceeded", type: "rate_limit_error", message };
  return status < 500
    ? { code: "invalid_prompt", type: "invalid_request_error", message }
    : { code: "server_error", type: "server_error", message };
}

/**
 * Returns the message of a failure without a response: the provider's own sentence, or that of the
 * gateway behind its error code, for which the list has no place.
 */
export function codedMessage(failure: Failure): string {
  const message = messageOf(failure);
  if (isRefusal(failure)) return `[${REFUSALS[failure.kind].code ?? failure.kind}] ${message}`;
  if (FAULTS[failure.kind].code === "kind") return `[${failure.kind}] ${message}`;
  const reported = failure.upstream?.error.message;
  return typeof reported === "string" ? reported : message;
}
