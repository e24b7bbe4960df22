import type { Config } from "../config/schema.ts";
import {
  connectionCause,
  type Failure,
  type FallbackReason,
  FAULTS,
  isRefusal,
} from "../core/failure/failure.ts";

/** Decision after a failed attempt. */
export type RetryDecision =
  | { readonly kind: "retry"; readonly delayMs: number }
  /** Another candidate comes first; this one is retried if none of them responds. */
  | { readonly kind: "later" }
  | { readonly kind: "fallback" }
  | { readonly kind: "stop" };

/** A failed attempt, with the settings and limits that decide about its retry. */
export interface FailedAttempt {
  readonly failure: Failure;
  /** Number of attempts on this target, including the failed attempt. */
  readonly attempts: number;
  readonly retry: Config["retry"];
  readonly retryAllowed: boolean;
  /** Uniform in [0, 1). */
  readonly random: number;
  /**
   * The call has side effects: it is sent again only if the upstream certainly did not start
   * processing.
   */
  readonly hasSideEffects: boolean;
  /** True if a candidate is left to which the call was not sent. */
  readonly hasUntried: boolean;
  /** Failures after which another candidate is tried. */
  readonly fallbackOn: readonly FallbackReason[];
  /** True if an earlier candidate has failed, so that this one was tried in its place. */
  readonly isFallback: boolean;
}

/**
 * Decides whether a failed attempt is retried, falls back or ends the call, and returns the retry
 * delay. A target that was silent gets no second request while another one may respond at once.
 */
export function decideRetry(situation: FailedAttempt): RetryDecision {
  const { failure, attempts, retry, retryAllowed, hasSideEffects } = situation;
  if (isRefusal(failure)) return { kind: "stop" };
  const { retry: mayHelp, fallback } = FAULTS[failure.kind];
  const mayFallBack = (fallback !== null && situation.fallbackOn.includes(fallback)) ||
    (situation.isFallback && isRejection(failure));
  if (hasSideEffects && failure.mayHaveRun) return { kind: "stop" };
  if (mayHelp && retryAllowed && retry.enabled && attempts < retry.max_attempts) {
    const wait = retryDelayMs(attempts - 1, retry, situation.random);
    const retryAfterMs = failure.retryAfterMs ?? 0;
    // A `Retry-After` longer than `max_delay` ends the retries.
    if (retryAfterMs <= retry.max_delay) {
      if (mayFallBack && situation.hasUntried && isTimeout(failure)) return { kind: "later" };
      return { kind: "retry", delayMs: Math.max(wait, retryAfterMs) };
    }
  }
  return { kind: mayFallBack ? "fallback" : "stop" };
}

/** True if the provider has rejected the request itself, so that another one may accept it. */
export function isRejection({ kind }: Failure): boolean {
  return kind === "upstream_rejected" || kind === "context_length_exceeded" ||
    kind === "content_filtered";
}

/** True if an attempt ended because the target was silent, at the connection or after it. */
function isTimeout(failure: Failure): boolean {
  return failure.kind === "upstream_timeout" || connectionCause(failure) === "timeout";
}

/** Returns the delay before retry `n`, counted from 0, in milliseconds. */
export function retryDelayMs(n: number, retry: Config["retry"], random: number): number {
  const { initial_delay, multiplier, jitter_factor, max_delay } = retry;
  const jitter = 1 + jitter_factor * (random - 0.5);
  return Math.min(initial_delay * multiplier ** n * jitter, max_delay);
}
