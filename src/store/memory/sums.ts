import { SUBJECT_PREFIX } from "../../traffic/buckets.ts";
import { newLinkedQueue } from "../../traffic/linked_queue.ts";
import type { Spend } from "../quota_store.ts";

/** A sum of one caller. */
export interface Sum {
  readonly caller: string;
  readonly window: string;
  readonly amount: number;
  /** Time after which the sum is forgotten, in milliseconds of the clock of the sums. */
  readonly endsAt: number;
}

/** Sums of callers by window, such as what a client key has spent on a day. */
export interface Sums {
  /** Returns a sum; 0 if it is not known. */
  get(caller: string, window: string): number;
  /** Returns all sums of a caller. */
  of(caller: string): readonly Sum[];
  /** Adds an amount and returns the sum. */
  add(caller: string, spend: Spend): Sum;
  /** Replaces a sum. */
  set(sum: Sum): void;
  /** Returns the callers that have sums. */
  callers(): Iterable<string>;
  /** Number of stored sums. */
  readonly size: number;
}

/**
 * Maximum number of stored sums. Above it, the least recently changed sum is removed first, which
 * is not that of a budget in use: every call of its caller changes it.
 */
export const MAX_SUMS = 100_000;

/**
 * Maximum number of sums of clients that the configuration does not name: the windows of
 * 10,000 clients, and of the hours that have ended.
 */
export const MAX_SUBJECT_SUMS = 400_000;

/**
 * Returns no sums, those of clients that the configuration does not name apart from the rest: they
 * never push out the sum of a key.
 */
export function newSumsByKind(now: () => number): Sums {
  const keys = newSums(now);
  const subjects = newSums(now, MAX_SUBJECT_SUMS);
  const of = (caller: string) => caller.startsWith(SUBJECT_PREFIX) ? subjects : keys;
  return {
    get: (caller, window) => of(caller).get(caller, window),
    of: (caller) => of(caller).of(caller),
    add: (caller, spend) => of(caller).add(caller, spend),
    set: (sum) => of(sum.caller).set(sum),
    *callers() {
      yield* keys.callers();
      yield* subjects.callers();
    },
    get size() {
      return keys.size + subjects.size;
    },
  };
}

/** Returns no sums. `now` returns milliseconds. */
export function newSums(now: () => number, max = MAX_SUMS): Sums {
  const callers = new Map<string, Map<string, { readonly sum: Sum; remove(): void }>>();
  /** All sums, the least recently changed first. */
  const order = newLinkedQueue<Sum>();

  function find(caller: string, window: string): Sum | undefined {
    const sum = callers.get(caller)?.get(window)?.sum;
    return sum === undefined || sum.endsAt <= now() ? undefined : sum;
  }

  function makeRoom() {
    const time = now();
    for (let oldest = order.first; oldest !== undefined; oldest = order.first) {
      if (oldest.endsAt > time && order.size <= max) return;
      order.shift();
      const windows = callers.get(oldest.caller);
      windows?.delete(oldest.window);
      if (windows?.size === 0) callers.delete(oldest.caller);
    }
  }

  function set(sum: Sum) {
    const { caller, window } = sum;
    const windows = callers.get(caller) ?? new Map();
    windows.get(window)?.remove();
    callers.set(caller, windows.set(window, { sum, remove: order.push(sum) }));
    makeRoom();
  }

  return {
    get: (caller, window) => find(caller, window)?.amount ?? 0,
    of(caller) {
      const time = now();
      const known = [...callers.get(caller)?.values() ?? []];
      return known.map(({ sum }) => sum).filter(({ endsAt }) => endsAt > time);
    },
    add(caller, { window, amount, ttlMs }) {
      const known = find(caller, window);
      const sum: Sum = {
        caller,
        window,
        amount: Math.min((known?.amount ?? 0) + amount, Number.MAX_SAFE_INTEGER),
        endsAt: Math.max(known?.endsAt ?? 0, now() + ttlMs),
      };
      set(sum);
      return sum;
    },
    set,
    callers: () => callers.keys(),
    get size() {
      return order.size;
    },
  };
}
