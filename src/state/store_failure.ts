import { type Failed, fault } from "../core/result.ts";

/** Time after which a client may send a request again that needed the store. */
const RETRY_AFTER_MS = 1_000;

/** Returns the failure of an operation while the state store cannot be asked. */
export function storeUnavailable(): Failed {
  return fault("state_unavailable", "The state store is not available; try again.", {
    retryAfterMs: RETRY_AFTER_MS,
  });
}

/** Returns the failure of a read whose record is encrypted with an unknown key or has an unknown version. */
export function recordUnreadable(): Failed {
  return fault("state_unreadable", "The stored object cannot be read.");
}
