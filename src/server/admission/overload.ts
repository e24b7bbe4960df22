import type { Failed } from "../../core/failure/result.ts";
import type { Call } from "../../call/call.ts";
import { refuseOverloaded } from "../../traffic/call_memory.ts";

/**
 * True for calls that need a key and count in limits: all below `/v1/`, known or not, and those of
 * a client API elsewhere.
 */
export function isClientCall({ path, report }: Pick<Call, "path" | "report">): boolean {
  return path.startsWith("/v1/") || report.endpoint.api !== null;
}

/**
 * Counts a call of a client as in flight until its response has ended. Returns null, or refuses as
 * `overloaded` if `server.max_concurrent_requests` are in flight, or responses that clients have
 * not taken hold `server.max_response_memory`. Health, readiness and metrics are always served.
 * While more than half of all places have bodies of one client that arrive, the oldest of them ends
 * for a call of another one; never for a call whose key is not `checked` yet.
 */
export function takePlace(call: Call, isChecked = true): Failed | null {
  if (!isClientCall(call)) return null;
  const { id, state: { admission } } = call;
  const refusal = refuseResponse(call);
  if (refusal !== null || admission.admit(id)) return refusal;
  const hasPlace = isChecked && admission.endArriving(call.clientOf()) && admission.admit(id);
  return hasPlace ? null : refuseOverloaded(call, "requests");
}

/**
 * Returns the refusal of a call whose response has not begun while the responses in memory have
 * `server.max_response_memory` bytes; null otherwise.
 */
export function refuseResponse(call: Call): Failed | null {
  const isFull = call.state.admission.isResponseMemoryFull();
  return isFull ? refuseOverloaded(call, "response_memory") : null;
}
