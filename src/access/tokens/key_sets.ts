import type { VerifyingKey } from "./key_set.ts";

/** Time for which the last good keys of an issuer are used while newer ones cannot be had. */
export const MAX_KEY_AGE_MS = 24 * 60 * 60 * 1000;

/** Minimum time between two refreshes of a key set that unknown keys of tokens begin. */
const MIN_DEMAND_INTERVAL_MS = 30_000;

/** The last good keys of a key set. */
export interface KeySet {
  readonly keys: readonly VerifyingKey[];
  readonly ids: ReadonlySet<string>;
}

/** Result of a refresh: keys, or null if it has failed. */
export type Refreshed = readonly VerifyingKey[] | null;

/**
 * Key sets of issuers by their source. Requests read them and never wait for them. `nowMs` is a
 * time in milliseconds that never goes back.
 */
export interface KeySets {
  /** Returns the keys of a source; null if there are none, or if they are too old. */
  current(source: string, nowMs: number): KeySet | null;
  /** Returns the number of keys and their age in milliseconds; null if there are none. */
  state(source: string, nowMs: number): { readonly keys: number; readonly ageMs: number } | null;
  /**
   * Begins a refresh because a token names a key that the source does not have. Returns `wait` if
   * its keys are being refreshed, or cannot be; `unknown` if they are as new as they may be.
   */
  demand(source: string, nowMs: number): "wait" | "unknown";
  isRefreshing(source: string): boolean;
  /** True if the last refresh has failed. */
  isFailing(source: string): boolean;
  /** Begins a refresh. */
  begin(source: string): void;
  /** Ends a refresh. A failed one leaves the keys as they are. */
  end(source: string, refreshed: Refreshed, nowMs: number): void;
  /** Removes all other sources. */
  retain(sources: ReadonlySet<string>): void;
  /** Sets the task that refreshes a source on demand. */
  onDemand(task: (source: string) => void): void;
}

interface Entry {
  set: KeySet | null;
  loadedMs: number;
  isRefreshing: boolean;
  hasFailed: boolean;
  demandedMs: number;
}

/** Returns no key sets. */
export function newKeySets(): KeySets {
  const entries = new Map<string, Entry>();
  let refresh: (source: string) => void = () => {};

  function entryOf(source: string): Entry {
    const known = entries.get(source);
    if (known !== undefined) return known;
    const entry: Entry = {
      set: null,
      loadedMs: 0,
      isRefreshing: false,
      hasFailed: false,
      demandedMs: -Infinity,
    };
    entries.set(source, entry);
    return entry;
  }

  return {
    current(source, nowMs) {
      const entry = entries.get(source);
      if (entry === undefined || entry.set === null) return null;
      return nowMs - entry.loadedMs > MAX_KEY_AGE_MS ? null : entry.set;
    },
    state(source, nowMs) {
      const entry = entries.get(source);
      if (entry === undefined || entry.set === null) return null;
      return { keys: entry.set.keys.length, ageMs: nowMs - entry.loadedMs };
    },
    demand(source, nowMs) {
      const entry = entryOf(source);
      if (entry.isRefreshing) return "wait";
      if (nowMs - entry.demandedMs < MIN_DEMAND_INTERVAL_MS) {
        return entry.hasFailed ? "wait" : "unknown";
      }
      entry.demandedMs = nowMs;
      entry.isRefreshing = true;
      refresh(source);
      return "wait";
    },
    isRefreshing: (source) => entries.get(source)?.isRefreshing ?? false,
    isFailing: (source) => entries.get(source)?.hasFailed ?? false,
    begin(source) {
      entryOf(source).isRefreshing = true;
    },
    end(source, refreshed, nowMs) {
      const entry = entryOf(source);
      entry.isRefreshing = false;
      entry.hasFailed = refreshed === null;
      if (refreshed === null) return;
      entry.set = { keys: refreshed, ids: new Set(refreshed.map(({ id }) => id)) };
      entry.loadedMs = nowMs;
    },
    retain(sources) {
      for (const source of entries.keys()) if (!sources.has(source)) entries.delete(source);
    },
    onDemand(task) {
      refresh = task;
    },
  };
}
