/** Rate and burst size of a token bucket. */
export interface BucketSettings {
  readonly requests_per_minute: number;
  readonly burst_size: number;
}

/** Result of taking a token. */
export interface TokenResult {
  readonly isTaken: boolean;
  /** Whole tokens that remain. */
  readonly remaining: number;
  /** Milliseconds until a token is available; 0 if a token was taken. */
  readonly waitMs: number;
}

/** One token bucket for each caller. */
export interface Buckets {
  /** Takes a token if there is one. The current settings apply, also to tokens taken before. */
  take(caller: string, settings: BucketSettings): TokenResult;
  /** Number of stored buckets. */
  readonly size: number;
}

/** Maximum number of stored buckets. */
const MAX_BUCKETS = 10_000;

/** Tolerance for rounding errors in sums of fractions. */
const ROUNDING_MS = 1e-6;

/**
 * Returns buckets that are all full. `now` returns milliseconds that never go back.
 *
 * A bucket is stored as the time at which it will be full: every token taken delays that time by
 * the time of one token. A full bucket needs no entry, so above the limit full buckets are removed
 * first, then the least recently used.
 */
export function newBuckets(now: () => number): Buckets {
  const fullAt = new Map<string, number>();
  /** Earliest time at which a bucket may be full. */
  let firstFull = Infinity;

  function makeRoom(time: number) {
    if (fullAt.size < MAX_BUCKETS) return;
    if (time >= firstFull) forgetFull(time);
    const [oldest] = fullAt.size < MAX_BUCKETS ? [] : fullAt.keys();
    if (oldest !== undefined) fullAt.delete(oldest);
  }

  function forgetFull(time: number) {
    firstFull = Infinity;
    for (const [caller, at] of fullAt) {
      if (at <= time) fullAt.delete(caller);
      else firstFull = Math.min(firstFull, at);
    }
  }

  return {
    take(caller, { requests_per_minute, burst_size }) {
      const time = now();
      const perToken = 60_000 / requests_per_minute;
      const whole = burst_size * perToken;
      const known = fullAt.get(caller);
      const lacking = Math.min(Math.max(0, (known ?? 0) - time), whole);
      const wait = lacking - (whole - perToken);
      const isTaken = wait <= ROUNDING_MS;
      const left = isTaken ? lacking + perToken : lacking;
      if (known === undefined) makeRoom(time);
      // Moved to the end, because it is the most recently used.
      fullAt.delete(caller);
      fullAt.set(caller, time + left);
      firstFull = Math.min(firstFull, time + left);
      const remaining = Math.max(0, Math.floor((whole - left + ROUNDING_MS) / perToken));
      return { isTaken, remaining, waitMs: isTaken ? 0 : wait };
    },
    get size() {
      return fullAt.size;
    },
  };
}
