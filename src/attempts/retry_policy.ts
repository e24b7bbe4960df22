import type { Config } from "../config/schema.ts";
import { type Failure, FAULTS, isRefusal } from "../core/failure.ts";

/** What comes after a failed try. */
export type Next =
  | { readonly do: "repeat"; readonly after: number }
  | { readonly do: "fall back" }
  | { readonly do: "stop" };

/** What decides it. */
export interface Situation {
  readonly failure: Failure;
  /** Tries this target has had, the failed one included. */
  readonly tries: number;
  readonly retry: Config["retry"];
  readonly mayRepeat: boolean;
  /** Uniform in [0, 1). */
  readonly random: number;
  /** The call has side effects: it is sent again only if the upstream certainly did not start processing. */
  readonly leavesState: boolean;
}

/** Whether to repeat, to fall back or to stop, and how long to wait first. */
export function again(situation: Situation): Next {
  const { failure, tries, retry, mayRepeat, leavesState } = situation;
  if (isRefusal(failure)) return { do: "stop" };
  const { retry: mayHelp, fallback } = FAULTS[failure.kind];
  if (leavesState && failure.mayHaveRun) return { do: "stop" };
  if (mayHelp && mayRepeat && retry.enabled && tries < retry.max_attempts) {
    const wait = waitBefore(tries - 1, retry, situation.random);
    const asked = failure.retryAfterMs ?? 0;
    // Who asks for more than the longest wait is given up at once.
    if (asked <= retry.max_delay) return { do: "repeat", after: Math.max(wait, asked) };
  }
  return fallback ? { do: "fall back" } : { do: "stop" };
}

/** Milliseconds before retry `n`, counted from 0. */
export function waitBefore(n: number, retry: Config["retry"], random: number): number {
  const { initial_delay, multiplier, jitter_factor, max_delay } = retry;
  const jitter = 1 + jitter_factor * (random - 0.5);
  return Math.min(initial_delay * multiplier ** n * jitter, max_delay);
}
