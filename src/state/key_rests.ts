import type { KeyRefusal } from "../core/failure.ts";

/** A key of a provider: its provider, its name in the configuration, and the digest of its account. */
export interface RestingKey {
  readonly provider: string;
  readonly name: string;
  readonly account: string;
}

/** Rest of a key that an upstream has refused. */
export interface Rest {
  readonly kind: KeyRefusal["kind"];
  /** Milliseconds until the key is used again, more than 0. */
  readonly leftMs: number;
}

/** Rests of refused keys. An account that is still configured after a reload goes on resting. */
export interface KeyRests {
  /** Returns the rest of an account; null if it does not rest. */
  find(account: string): Rest | null;
  /** Lets a key rest for this time; an earlier rest that lasts longer remains. */
  begin(key: RestingKey, refusal: KeyRefusal, ms: number): void;
}

/** Receives each key that begins to rest because an upstream rejected it. */
export type KeyListener = (key: RestingKey, status: number, ms: number) => void;

/** Maximum number of accounts with a rest; the oldest rest is removed first. */
const MAX_ACCOUNTS = 10_000;

/** Longest rest, so that a wrong `Retry-After` does not disable a key for ever: one day. */
const MAX_REST_MS = 24 * 60 * 60 * 1_000;

/** Rests that are shorter are over: a delay in fractions of a millisecond may end early by rounding. */
const MIN_REST_MS = 0.5;

interface Entry {
  readonly kind: KeyRefusal["kind"];
  readonly until: number;
}

/**
 * Returns the rests of keys, of which none rests. `now` returns milliseconds that never go back.
 * `onRejected` is called once for each rest of a rejected key, however many requests were rejected.
 */
export function newKeyRests(now: () => number, onRejected: KeyListener): KeyRests {
  const entries = new Map<string, Entry>();

  function find(account: string): Rest | null {
    const entry = entries.get(account);
    if (entry === undefined) return null;
    const leftMs = entry.until - now();
    if (leftMs >= MIN_REST_MS) return { kind: entry.kind, leftMs };
    entries.delete(account);
    return null;
  }

  return {
    find,
    begin(key, { kind, status }, ms) {
      const { account } = key;
      const restMs = Math.min(ms, MAX_REST_MS);
      const earlier = find(account);
      if (kind === "rejected" && earlier?.kind !== "rejected") onRejected(key, status, restMs);
      if (earlier !== null && earlier.leftMs >= restMs && earlier.kind === kind) return;
      // Requests that ran at the same time may be refused for different reasons.
      const isRejected = kind === "rejected" || earlier?.kind === "rejected";
      const leftMs = Math.max(restMs, earlier?.leftMs ?? 0);
      entries.delete(account);
      const [oldest] = entries.size >= MAX_ACCOUNTS ? entries.keys() : [];
      if (oldest !== undefined) entries.delete(oldest);
      entries.set(account, {
        kind: isRejected ? "rejected" : "throttled",
        until: now() + leftMs,
      });
    },
  };
}
