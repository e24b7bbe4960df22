import type { Cancellation } from "../core/cancellation.ts";
import { type Failed, refuse } from "../core/failure/result.ts";
import type { World } from "../core/world.ts";
import type { OverloadReason } from "../data/overload_reason.ts";
import { type Admission, MIN_COUNTED_BYTES } from "./admission.ts";

/** `Retry-After` of an overloaded gateway, in seconds. */
const RETRY_AFTER_SECONDS = "1";

/** Predicates of refusals by the limit that is reached. */
const REACHED: Readonly<Record<OverloadReason, string>> = {
  requests: "serves as many requests as server.max_concurrent_requests allows",
  body_memory: "holds as many bytes of requests as server.max_body_memory allows",
  response_memory: "holds as many bytes of responses as server.max_response_memory allows",
  heap: "uses most of the heap that the runtime gives its process",
};

/** Time in which a client takes a stream that was released; what is left then counts again. */
const RELEASED_MS = 1_000;

/** The parts of a call on which its memory depends. */
interface HoldingCall {
  readonly id: string;
  readonly cancellation: Cancellation;
  readonly world: World;
  readonly state: { readonly admission: Admission };
  readonly report: { readonly attempts: readonly unknown[] };
  readonly metrics: { overloaded(reason: OverloadReason): void };
  readonly responseHeaders: Record<string, string>;
}

/**
 * Reserves bytes of body memory until the response of the call has ended. Returns null, or refuses
 * as `overloaded` above `server.max_body_memory` or while the heap of the process is nearly full.
 */
export function holdBody(call: HoldingCall, bytes: number): Failed | null {
  const reached = call.state.admission.hold(call.id, bytes);
  return reached === null ? null : refuseOverloaded(call, reached);
}

/** Returns the refusal of a call while the heap of the process is nearly full; null otherwise. */
export function refuseFullHeap(call: HoldingCall): Failed | null {
  return call.state.admission.isHeapFull() ? refuseOverloaded(call, "heap") : null;
}

/** Counts what one attempt holds of its response in `server.max_response_memory`. */
export type ResponseMemory = ReturnType<typeof newResponseMemory>;

/**
 * Returns the count of an attempt of a call. While responses hold more than their memory, the call
 * with the largest one that is read or translated is cancelled as `overloaded`. If it is cancelled
 * already, and the attempt continues for its token counts, `stop` ends the attempt.
 */
export function newResponseMemory(call: HoldingCall, stop: () => void) {
  const { id, cancellation, report, world, state: { admission } } = call;
  let measure = () => 0;
  let release: (() => void) | null = null;
  let unmeasured = 0;
  let counted = 0;
  let cancelRecount = () => {};
  // The error of the attempt before.
  if (report.attempts.length > 0) admission.holdResponse(id, 0);

  function drop() {
    counted = 0;
    if (cancellation.isCancelled) return stop();
    if (release === null) {
      return cancellation.cancel(refuseOverloaded(call, "response_memory").failure);
    }
    cancelRecount = world.after(RELEASED_MS, countReleased);
    release();
  }

  /** Counts what a slow client has left of a released stream; to cancel it would free nothing. */
  function countReleased() {
    if (cancellation.isCancelled) return;
    counted = measured();
    admission.holdResponse(id, counted);
  }

  function measured(): number {
    const bytes = measure();
    return bytes < MIN_COUNTED_BYTES ? 0 : bytes;
  }

  function count() {
    unmeasured = 0;
    const shown = measured();
    if (shown === counted) return;
    counted = shown;
    admission.holdGrowing(id, shown, drop);
  }

  return {
    /** Sets the function that returns the bytes that are held now. */
    measureBy(next: () => number): void {
      measure = next;
    },
    /**
     * Sets the function that is called instead of the cancellation of the call, because it makes
     * room by delivering what is held; null for none.
     */
    releaseBy(next: (() => void) | null): void {
      release = next;
    },
    /**
     * Adds bytes that have arrived. The held bytes are measured after each 64 KiB, of which a small
     * response has none.
     */
    arrived(bytes: number): void {
      unmeasured += bytes;
      if (unmeasured >= MIN_COUNTED_BYTES) count();
    },
    /** Measures the held bytes again if any are counted: some of them were passed on. */
    passed(): void {
      if (counted > 0) count();
    },
    /**
     * Counts these bytes until the call ends or its next attempt begins, 0 for none: those of the
     * error of an attempt that has failed, or of a response that has arrived, which is not dropped
     * any more.
     */
    end(bytes: number): void {
      cancelRecount();
      if (counted === 0) return;
      // The end of a cancelled call may have been before that of its attempt.
      counted = cancellation.isCancelled ? 0 : bytes;
      admission.holdResponse(id, counted);
    },
  };
}

/** Returns the refusal of a call that a limit of the gateway does not admit, and counts it. */
export function refuseOverloaded(
  { responseHeaders, metrics }: HoldingCall,
  limit: OverloadReason,
  reached = REACHED[limit],
): Failed {
  responseHeaders["retry-after"] = RETRY_AFTER_SECONDS;
  metrics.overloaded(limit);
  return refuse("overloaded", `The gateway ${reached}; try again in ${RETRY_AFTER_SECONDS} s.`);
}
