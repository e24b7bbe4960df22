/** Ratio to the p95 of its provider from which on a call is slow, and the least time of a slow call. */
const SLOW_RATIO = 3, MIN_SLOW_MS = 1_000;

/** Decides which calls are slow. */
export interface SlowCalls {
  /** True if a response that began after this time is slow for its provider. */
  isSlow(second: number, provider: string, firstByteMs: number): boolean;
}

/**
 * Returns the judge of slow calls: a response is slow if it began after at least a second and three times
 * the p95 of its provider, which `p95Of` returns and which is read once a second. Nothing is slow at a
 * provider that has served no call. Providers come from the file.
 */
export function newSlowCalls(p95Of: (provider: string) => number | null): SlowCalls {
  const known = new Map<string, { readonly second: number; readonly fromMs: number }>();
  return {
    isSlow(second, provider, firstByteMs) {
      if (firstByteMs < MIN_SLOW_MS) return false;
      let bound = known.get(provider);
      if (bound?.second !== second) {
        bound = { second, fromMs: (p95Of(provider) ?? Infinity) * SLOW_RATIO };
        known.set(provider, bound);
      }
      return firstByteMs >= bound.fromMs;
    },
  };
}
