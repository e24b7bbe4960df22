import { type Failed, failed, fault, type Result, success } from "../core/result.ts";
import type { Call } from "../call/call.ts";
import type { Candidate } from "../call/inference.ts";
import type { Slot } from "../state/provider_slots.ts";

/** `Retry-After` of a provider without a free slot, in milliseconds. */
const BUSY_RETRY_AFTER_MS = 1_000;

/**
 * Takes a slot of the attempt's provider, after waiting in its queue if there is none, unless the circuit
 * breaker is open. The wait ends with the call. The slot is given back when the call ends early, at the
 * latest by its holder.
 */
export async function takeSlot(
  call: Call,
  { target: { provider } }: Candidate,
): Promise<Result<Slot>> {
  const { slots, breakers } = call.state;
  // Waiting for a provider that would not be asked helps no call. The permit is taken later, with the
  // slot: a call in the queue must not hold one of the trials of a half-open breaker.
  const openFor = breakers.openFor(provider.account, call.generation.config.circuit_breaker);
  if (openFor > 0) return circuitOpen(openFor);
  const entry = slots.enter(provider);
  if (entry.kind === "granted") return success(heldByCall(call, entry.slot));
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
    : success(heldByCall(call, slot));
}

/** Returns the failure of an attempt that an open circuit breaker prevents for `openFor` milliseconds. */
export function circuitOpen(openFor: number): Failed {
  const message = "The provider has failed too often and is left alone for a while.";
  return fault("circuit_open", message, { mayHaveRun: false, retryAfterMs: openFor });
}

function busy(message: string): Failed {
  return fault("provider_busy", message, { mayHaveRun: false, retryAfterMs: BUSY_RETRY_AFTER_MS });
}

/** A stream that is never read has no end, so the end of its call releases the slot too. */
function heldByCall({ cancellation }: Call, slot: Slot): Slot {
  const unsubscribe = cancellation.onCancel(slot.release);
  return {
    release() {
      unsubscribe();
      slot.release();
    },
  };
}
