import { type Failed, refuse } from "../../core/result.ts";
import type { Call } from "../../call/call.ts";

/** The seconds after which a refused client may try again. */
const RETRY_AFTER_SECONDS = "1";

/**
 * Counts a call below `/v1/` as in flight until its response has ended; null if it may go on. Refused as
 * `overloaded` when `server.max_concurrent_requests` run already. Health, readiness and metrics are
 * always served.
 */
export function takePlace(call: Call): Failed | null {
  if (!call.path.startsWith("/v1/") || call.state.admission.admit(call.id)) return null;
  call.answerHeaders["retry-after"] = RETRY_AFTER_SECONDS;
  call.metrics.overloaded("requests");
  return refuse(
    "overloaded",
    "The gateway serves as many requests as server.max_concurrent_requests allows; try again in 1 s.",
  );
}

/**
 * Counts bytes of a request body as held until the response of its call has ended; null if there is room.
 * Refused as `overloaded` beyond `server.max_body_memory`.
 */
export function holdBody(call: Call, bytes: number): Failed | null {
  if (call.state.admission.hold(call.id, bytes)) return null;
  call.answerHeaders["retry-after"] = RETRY_AFTER_SECONDS;
  call.metrics.overloaded("body_memory");
  return refuse(
    "overloaded",
    "The gateway holds as many bytes of requests as server.max_body_memory allows; try again in 1 s.",
  );
}
