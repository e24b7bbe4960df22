import type { Failed } from "../core/failure/result.ts";
import type { Call } from "./call.ts";
import { refuseOverloaded } from "./response_memory.ts";

/**
 * Reserves bytes of body memory until the response of the call has ended. Returns null, or refuses
 * as `overloaded` above `server.max_body_memory`.
 */
export function holdBody(call: Call, bytes: number): Failed | null {
  if (call.state.admission.hold(call.id, bytes)) return null;
  return refuseOverloaded(
    call,
    "body_memory",
    "The gateway holds as many bytes of requests as server.max_body_memory allows; try again in 1 s.",
  );
}
