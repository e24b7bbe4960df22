import type { FinishedCall } from "./snapshot.ts";

/** Maximum number of calls in a ring. */
export const MAX_RING_CALLS = 100;

/** Maximum size of all calls in a ring, in characters of at most two bytes. */
export const MAX_RING_CHARS = 1024 * 1024;

/** Returns the last finished calls of one kind. */
export function newCallRing() {
  /** Oldest first. */
  const calls: FinishedCall[] = [];
  let chars = 0;
  return {
    /** Adds a call, and drops the oldest ones that exceed a bound. */
    add(call: FinishedCall): void {
      calls.push(call);
      chars += charsOf(call);
      while (calls.length > MAX_RING_CALLS || chars > MAX_RING_CHARS) {
        const oldest = calls.shift();
        if (oldest === undefined) break;
        chars -= charsOf(oldest);
      }
    },
    /** Returns the calls with higher numbers, newest first. */
    since: (number: number): readonly FinishedCall[] =>
      calls.slice(calls.findLastIndex((one) => one.number <= number) + 1).reverse(),
  };
}

/**
 * Characters of a call besides its lists: the access line has some 25 fields, of which few are
 * long.
 */
const FIXED_CHARS = 4096;

/** Returns the size of a call in characters. Its lists are its only parts that can be long. */
function charsOf({ targets, attempts, verified, lossy }: FinishedCall): number {
  let chars = FIXED_CHARS;
  for (const { model, skipped } of targets) {
    chars += ENTRY_CHARS + (model?.length ?? 0) + (skipped?.length ?? 0);
  }
  for (const { model } of attempts) chars += ENTRY_CHARS + model.length;
  for (const path of verified) chars += path.length;
  for (const path of lossy) chars += path.length;
  return chars;
}

/**
 * Characters of a target or attempt besides the texts of the client: names of the file, times,
 * flags.
 */
const ENTRY_CHARS = 200;

/**
 * Ratio to the p95 of its provider from which on a call is slow, and the least time of a slow call.
 */
const SLOW_RATIO = 3, MIN_SLOW_MS = 1_000;

/**
 * Returns the judge of slow calls: a response is slow if it began after at least a second and three
 * times the p95 of its provider, which `p95Of` returns and which is read once a second. Nothing is
 * slow at a provider that has served no call. Providers come from the file.
 */
export function newSlowCalls(p95Of: (provider: string) => number | null) {
  const known = new Map<string, { readonly second: number; readonly fromMs: number }>();
  return {
    /** True if a response that began after this time is slow for its provider. */
    isSlow(second: number, provider: string, firstByteMs: number): boolean {
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
