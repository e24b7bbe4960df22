import type { Config } from "../config/schema.ts";
import { type Failure, FAULTS, isRefusal } from "../core/failure.ts";

/** What comes after a failed try. */
export type RetryDecision =
  | { readonly kind: "retry"; readonly after: number }
  | { readonly kind: "fallback" }
  | { readonly kind: "stop" };

/** What decides it. */
export interface FailedAttempt {
  readonly failure: Failure;
  /** Tries this target has had, the failed one included. */
  readonly attempts: number;
  readonly retry: Config["retry"];
  readonly retryAllowed: boolean;
  /** Uniform in [0, 1). */
  readonly random: number;
  /** The call has side effects: it is sent again only if the upstream certainly did not start processing. */
  readonly hasSideEffects: boolean;
}

/** Whether to repeat, to fall back or to stop, and how long to wait first. */
export function decideRetry(situation: FailedAttempt): RetryDecision {
  const { failure, attempts, retry, retryAllowed, hasSideEffects } = situation;
  if (isRefusal(failure)) return { kind: "stop" };
  const { retry: mayHelp, fallback } = FAULTS[failure.kind];
  if (hasSideEffects && failure.mayHaveRun) return { kind: "stop" };
  if (mayHelp && retryAllowed && retry.enabled && attempts < retry.max_attempts) {
    const wait = retryDelayMs(attempts - 1, retry, situation.random);
    const asked = failure.retryAfterMs ?? 0;
    // Who asks for more than the longest wait is given up at once.
    if (asked <= retry.max_delay) return { kind: "retry", after: Math.max(wait, asked) };
  }
  return fallback ? { kind: "fallback" } : { kind: "stop" };
}

/** Milliseconds before retry `n`, counted from 0. */
export function retryDelayMs(n: number, retry: Config["retry"], random: number): number {
  const { initial_delay, multiplier, jitter_factor, max_delay } = retry;
  const jitter = 1 + jitter_factor * (random - 0.5);
  return Math.min(initial_delay * multiplier ** n * jitter, max_delay);
}
