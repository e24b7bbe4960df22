/** Time for which a worker must serve before its end counts as the first one again. */
const STABLE_MS = 10_000;

/** Number of starts in succession that fail before the gateway gives up. */
const MAX_FAILED_STARTS = 5;

/** Delay before the first restart; it doubles up to the maximum. */
const MIN_DELAY_MS = 100, MAX_DELAY_MS = 10_000;

/** How a worker process ended: its start failed, or it served for this time. */
export type WorkerEnd =
  | { readonly kind: "not_started" }
  | { readonly kind: "served"; readonly ms: number };

/** Ends of a worker in succession. */
export interface Restarts {
  /** Short lives in succession, which make the delay longer. */
  readonly short: number;
  readonly failedStarts: number;
}

/** The restarts of a worker that has not ended yet. */
export const NO_RESTARTS: Restarts = { short: 0, failedStarts: 0 };

/** Returns the restarts with one more end of the worker. */
export function withEnd({ short, failedStarts }: Restarts, end: WorkerEnd): Restarts {
  if (end.kind === "not_started") return { short: short + 1, failedStarts: failedStarts + 1 };
  return { short: end.ms >= STABLE_MS ? 1 : short + 1, failedStarts: 0 };
}

/** True if a worker that failed so often at its start is not started again. */
export function isHopeless({ failedStarts }: Restarts): boolean {
  return failedStarts >= MAX_FAILED_STARTS;
}

/** Returns the milliseconds before the next start of a worker. */
export function restartDelay({ short }: Restarts): number {
  return Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** Math.max(0, Math.min(short - 1, 30)));
}
