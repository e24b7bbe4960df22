import { CALENDAR_PERIODS } from "../../core/calendar.ts";
import { SUBJECT_PREFIX } from "../../traffic/buckets.ts";
import { type LinkedQueue, newLinkedQueue } from "../../traffic/linked_queue.ts";
import { MAX_COUNTED } from "../../traffic/subjects.ts";
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
 * Maximum number of stored sums. Above it, the sums of the window that ends first are removed
 * first, so those that have ended before all others.
 */
export const MAX_SUMS = 100_000;

/** Maximum number of sums of a client in one window: in USD and in tokens. */
const MAX_WINDOW_SUMS = 2;

/**
 * Maximum number of sums of clients that the configuration does not name: the current windows of as
 * many as `Subjects` counts, so that only sums of windows that have ended are removed.
 */
export const MAX_SUBJECT_SUMS = MAX_COUNTED * CALENDAR_PERIODS.length * MAX_WINDOW_SUMS;

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

/** The sums of one window, the least recently changed first. */
interface Window {
  readonly order: LinkedQueue<Sum>;
  /** End of the sum that ends last. */
  readonly endsAt: number;
}

/** Number of ended sums that a change removes, so that none waits for a whole window. */
const MAX_ENDED_REMOVALS = 2;

/** Returns no sums. `now` returns milliseconds. Few windows have sums at the same time. */
export function newSums(now: () => number, max = MAX_SUMS): Sums {
  const callers = new Map<string, Map<string, { readonly sum: Sum; remove(): void }>>();
  const windows = new Map<string, Window>();
  /** No window ends before this time. */
  let firstEnd = Infinity;
  let size = 0;

  function find(caller: string, window: string): Sum | undefined {
    const sum = callers.get(caller)?.get(window)?.sum;
    return sum === undefined || sum.endsAt <= now() ? undefined : sum;
  }

  function makeRoom() {
    const time = now();
    for (let removed = 0; removed < MAX_ENDED_REMOVALS || size > max; removed++) {
      if (size <= max && firstEnd > time) return;
      const [first] = [...windows].toSorted(([, one], [, other]) => one.endsAt - other.endsAt);
      firstEnd = first?.[1].endsAt ?? Infinity;
      if (first === undefined || size <= max && firstEnd > time) return;
      removeOldest(...first);
    }
  }

  function removeOldest(name: string, { order }: Window) {
    const { caller = "" } = order.shift() ?? {};
    if (order.size === 0) windows.delete(name);
    size--;
    const own = callers.get(caller);
    own?.delete(name);
    if (own?.size === 0) callers.delete(caller);
  }

  function set(sum: Sum) {
    const { caller, window, endsAt } = sum;
    const own = callers.get(caller) ?? new Map();
    const { order, endsAt: lastEnd } = windows.get(window) ??
      { order: newLinkedQueue<Sum>(), endsAt };
    if (own.get(window)?.remove() !== true) size++;
    windows.set(window, { order, endsAt: Math.max(lastEnd, endsAt) });
    callers.set(caller, own.set(window, { sum, remove: order.push(sum) }));
    firstEnd = Math.min(firstEnd, endsAt);
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
      return size;
    },
  };
}
