/** How fast a bucket fills and how much it holds. */
export interface BucketSettings {
  readonly requests_per_minute: number;
  readonly burst_size: number;
}

/** What asking for a token gave. */
export interface Taken {
  readonly isTaken: boolean;
  /** Whole tokens that are left. */
  readonly remaining: number;
  /** Milliseconds after which a token is there; 0 when one was taken. */
  readonly waitMs: number;
}

/** One token bucket for each caller. */
export interface Buckets {
  /** Takes a token when there is one. The settings of this moment count, also for what was taken before. */
  take(caller: string, settings: BucketSettings): Taken;
  /** How many buckets are remembered. */
  readonly size: number;
}

/** More buckets than that are not remembered. */
const MAX_BUCKETS = 10_000;

/** Milliseconds that sums of fractions may be off. */
const ROUNDING_MS = 1e-6;

/**
 * Buckets that all begin full. `now` gives milliseconds that never go back.
 *
 * A bucket is the moment at which it will be full again: every token that is taken puts that moment
 * off by the time one token needs. A bucket that is full is as good as none, so when there are too
 * many the full ones are forgotten first, then those least recently asked.
 */
export function newBuckets(now: () => number): Buckets {
  const fullAt = new Map<string, number>();
  /** No bucket is full before this. */
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
      // Behind all others: it is the one asked last.
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
