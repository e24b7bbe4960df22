import { type Failed, failed, fault, type Result, success } from "../core/failure/result.ts";
import { openFor } from "../routing/accounts.ts";
import type { Call } from "../call/call.ts";
import type { Candidate } from "../call/inference.ts";
import type { Slot } from "../traffic/provider_slots.ts";

/** `Retry-After` of a provider without a free slot, in milliseconds. */
const BUSY_RETRY_AFTER_MS = 1_000;

/**
 * Takes a concurrency slot of the candidate's provider, and waits in its queue if no slot is free.
 * Fails if the circuit breaker is open. Cancellation of the call ends the wait and releases the
 * slot; otherwise the caller releases the slot.
 */
export async function takeSlot(
  call: Call,
  candidate: Candidate,
): Promise<Result<Slot>> {
  const { provider } = candidate.target;
  // With an open breaker no request is sent, so a wait would be useless. The permit is taken later,
  // with the slot: a call in the queue must not hold one of the trials of a half-open breaker.
  const openMs = openFor(call, candidate);
  if (openMs > 0) return circuitOpen(openMs);
  const entry = call.state.slots.enter(provider);
  if (entry.kind === "granted") return success(releasedOnCancel(call, entry.slot));
  if (entry.kind === "full") {
    return busy(
      "The provider is at its limit of concurrent requests; send the request again later.",
    );
  }
  const { world, report, cancellation } = call;
  const began = world.now();
  const unsubscribe = cancellation.onCancel(entry.leave);
  const slot = await entry.slot;
  unsubscribe();
  const waited = world.now() - began;
  report.queuedMs += waited;
  report.ms.upstream += waited;
  if (cancellation.reason !== null) {
    slot?.release();
    return failed(cancellation.reason);
  }
  return slot === null
    ? busy(
      "The provider was at its limit of concurrent requests for too long; send the request again later.",
    )
    : success(releasedOnCancel(call, slot));
}

/**
 * Returns the failure of an attempt that an open circuit breaker prevents for `openFor`
 * milliseconds.
 */
export function circuitOpen(openFor: number): Failed {
  const message =
    "The provider has failed too often, so no requests are sent to it for a while; send the request again later.";
  return fault("circuit_open", message, { mayHaveRun: false, retryAfterMs: openFor });
}

function busy(message: string): Failed {
  return fault("provider_busy", message, { mayHaveRun: false, retryAfterMs: BUSY_RETRY_AFTER_MS });
}

/**
 * Returns a slot or a load that cancellation of the call releases too, because an unread stream has
 * no end.
 */
export function releasedOnCancel({ cancellation }: Call, slot: Slot): Slot {
  const unsubscribe = cancellation.onCancel(slot.release);
  return {
    release() {
      unsubscribe();
      slot.release();
    },
  };
}
