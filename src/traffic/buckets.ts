import { MAX_COUNTED } from "./subjects.ts";

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

/** Level of a bucket. */
export interface BucketLevel {
  /** Whole tokens; negative while more were taken than there were. */
  readonly remaining: number;
  /** Milliseconds until a token is available; 0 if one is available now. */
  readonly waitMs: number;
}

/** One token bucket for each caller. The current settings apply, also to tokens taken before. */
export interface Buckets {
  /** Takes a token if there is one. */
  take(caller: string, settings: BucketSettings): TokenResult;
  /** Returns the level of a bucket and takes nothing. */
  look(caller: string, settings: BucketSettings): BucketLevel;
  /** Takes this many tokens, also more than there are, down to the maximum debt. */
  charge(caller: string, settings: BucketSettings, tokens: number): void;
  /** Returns the milliseconds until the bucket of a caller is full. */
  lacking(caller: string): number;
  /** Fills all buckets. */
  clear(): void;
  /** Number of stored buckets. */
  readonly size: number;
}

/** Maximum number of stored buckets; of each kind in buckets by kind. */
const MAX_BUCKETS = 10_000;

/** Tolerance for rounding errors in sums of fractions. */
const ROUNDING_MS = 1e-4;

/**
 * Returns buckets that are all full. `now` returns milliseconds that never go back. `maxDebtMs` is
 * the maximum time that an empty bucket may be from its first token.
 *
 * A bucket is stored as the time at which it will be full: every token taken delays that time by
 * the time of one token. A full bucket needs no entry, so above the limit full buckets are removed
 * first, then the least recently used.
 */
export function newBuckets(now: () => number, maxDebtMs = 0, max = MAX_BUCKETS): Buckets {
  const fullAt = new Map<string, number>();
  /** Earliest time at which a bucket may be full. */
  let firstFull = Infinity;

  function makeRoom(time: number) {
    if (fullAt.size < max) return;
    if (time >= firstFull) forgetFull(time);
    const [oldest] = fullAt.size < max ? [] : fullAt.keys();
    if (oldest !== undefined) fullAt.delete(oldest);
  }

  function forgetFull(time: number) {
    firstFull = Infinity;
    for (const [caller, at] of fullAt) {
      if (at <= time) fullAt.delete(caller);
      else firstFull = Math.min(firstFull, at);
    }
  }

  /**
   * Returns the milliseconds that a bucket with a capacity of `whole` milliseconds is from full.
   */
  function lackingOf(known: number | undefined, time: number, whole: number): number {
    return Math.min(Math.max(0, (known ?? 0) - time), whole + maxDebtMs);
  }

  function store(caller: string, isKnown: boolean, time: number, lacking: number) {
    if (!isKnown) makeRoom(time);
    // Moved to the end, because it is the most recently used.
    fullAt.delete(caller);
    fullAt.set(caller, time + lacking);
    firstFull = Math.min(firstFull, time + lacking);
  }

  return {
    take(caller, { requests_per_minute, burst_size }) {
      const time = now();
      const perToken = 60_000 / requests_per_minute;
      const whole = burst_size * perToken;
      const known = fullAt.get(caller);
      const lacking = lackingOf(known, time, whole);
      const wait = lacking - (whole - perToken);
      const isTaken = wait <= ROUNDING_MS;
      const left = isTaken ? lacking + perToken : lacking;
      store(caller, known !== undefined, time, left);
      return {
        isTaken,
        remaining: Math.floor((whole - left + ROUNDING_MS) / perToken),
        waitMs: isTaken ? 0 : wait,
      };
    },
    look(caller, { requests_per_minute, burst_size }) {
      const perToken = 60_000 / requests_per_minute;
      const whole = burst_size * perToken;
      const lacking = lackingOf(fullAt.get(caller), now(), whole);
      const wait = lacking - (whole - perToken);
      return {
        remaining: Math.floor((whole - lacking + ROUNDING_MS) / perToken),
        waitMs: wait <= ROUNDING_MS ? 0 : wait,
      };
    },
    charge(caller, { requests_per_minute, burst_size }, tokens) {
      const time = now();
      const perToken = 60_000 / requests_per_minute;
      const whole = burst_size * perToken;
      const known = fullAt.get(caller);
      const lacking = lackingOf(known, time, whole) + tokens * perToken;
      store(caller, known !== undefined, time, Math.min(lacking, whole + maxDebtMs));
    },
    lacking: (caller) => Math.max(0, (fullAt.get(caller) ?? 0) - now()),
    clear() {
      fullAt.clear();
      firstFull = Infinity;
    },
    get size() {
      return fullAt.size;
    },
  };
}

/**
 * Beginning of the callers that are networks, of which a client without a key can have any number.
 */
export const ADDRESS_PREFIX = "address ";

/** Beginning of the callers that the configuration does not name, but that are authenticated. */
export const SUBJECT_PREFIX = "subject ";

/**
 * Returns buckets that are all full, those of addresses and of clients that the configuration does
 * not name apart from those of keys: they never push out the bucket of a key.
 */
export function newBucketsByKind(now: () => number, maxDebtMs = 0): Buckets {
  const addresses = newBuckets(now, maxDebtMs);
  const keys = newBuckets(now, maxDebtMs);
  const subjects = newBuckets(now, maxDebtMs, MAX_COUNTED);
  const of = (caller: string) =>
    caller.startsWith(SUBJECT_PREFIX)
      ? subjects
      : caller.startsWith(ADDRESS_PREFIX)
      ? addresses
      : keys;
  return {
    take: (caller, settings) => of(caller).take(caller, settings),
    look: (caller, settings) => of(caller).look(caller, settings),
    charge: (caller, settings, tokens) => of(caller).charge(caller, settings, tokens),
    lacking: (caller) => of(caller).lacking(caller),
    clear() {
      addresses.clear();
      keys.clear();
      subjects.clear();
    },
    get size() {
      return addresses.size + keys.size + subjects.size;
    },
  };
}
