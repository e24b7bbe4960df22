import { type Failed, fault } from "../core/failure/result.ts";

/** Time after which a client may send a request again that needed the store. */
const RETRY_AFTER_MS = 1_000;

/** Returns the failure of an operation while the state store cannot be reached. */
export function storeUnavailable(): Failed {
  return unavailable("The state store is not available; try again.");
}

/**
 * Returns the failure of a request whose response must be stored, while the state store is known to
 * be unavailable. `isOptional` is true if the client may choose not to store the response.
 */
export function storageUnavailable(isOptional: boolean): Failed {
  if (!isOptional) return storeUnavailable();
  return unavailable(
    "The state store is not available, so the response cannot be stored; send 'store: false' to go on " +
      "without it, or try again.",
  );
}

function unavailable(message: string): Failed {
  return fault("state_unavailable", message, { retryAfterMs: RETRY_AFTER_MS, mayHaveRun: false });
}

/**
 * Returns the failure of a read whose record is encrypted with an unknown key or has an unknown
 * version.
 */
export function recordUnreadable(): Failed {
  return fault("state_unreadable", "The stored object cannot be read.");
}
