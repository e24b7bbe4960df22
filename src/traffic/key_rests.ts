import type { KeyRefusal } from "../core/failure/failure.ts";
import { setLatest } from "../core/set_latest.ts";
import { keptName } from "../core/text_beginning.ts";

/**
 * A key of a provider: its provider, its name in the configuration, and the digest of its account.
 */
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

/** Times of a refusal in milliseconds. */
export interface RestTimes {
  /** Rest after one refusal. */
  readonly restMs: number;
  /** `Retry-After` of the refusal. */
  readonly retryAfterMs: number | null;
}

/** Rests of refused keys. An account that is still configured after a reload continues to rest. */
export interface KeyRests {
  /**
   * Returns the rest of an account, for requests with this model if one is given; null if it does
   * not rest.
   */
  find(account: string, model?: string): Rest | null;
  /**
   * Lets a key rest, or only for the model of the refusal: a throttled key for its `Retry-After`,
   * which counts in full from the second refusal in a row, else for `restMs`. An earlier rest that
   * lasts longer remains.
   */
  begin(key: RestingKey, refusal: KeyRefusal, times: RestTimes): void;
  /**
   * Lets other keys come first for `ms` milliseconds: this one was refused, maybe because of the
   * request.
   */
  doubt(account: string, ms: number): void;
  /** True while other keys come first. */
  isDoubtful(account: string): boolean;
  /**
   * Records that a request with this model was served, which ends a row of refusals and a doubt.
   */
  served(account: string, model: string): void;
}

/**
 * Receives each key that begins to rest because an upstream rejected it; `model` if only for that
 * one.
 */
export type KeyListener = (
  key: RestingKey,
  status: number,
  ms: number,
  model?: string,
) => void;

/**
 * Maximum number of rests, of accounts or of accounts with a model; the oldest one is removed
 * first.
 */
const MAX_RESTS = 10_000;

/** Longest rest, so that a wrong `Retry-After` does not disable a key forever: one day. */
const MAX_REST_MS = 24 * 60 * 60 * 1_000;

/**
 * Rests that are shorter are over: a delay in fractions of a millisecond may end early by rounding.
 */
const MIN_REST_MS = 0.5;

interface Entry {
  readonly kind: KeyRefusal["kind"];
  readonly until: number;
  /** True from the second refusal on without a served request after the rest before it. */
  readonly isRepeated: boolean;
}

/**
 * Returns the rests of keys, of which none rests. `now` returns milliseconds that never go back.
 * `onRejected` is called once for each rest of a rejected key, however many requests were rejected.
 */
export function newKeyRests(now: () => number, onRejected: KeyListener): KeyRests {
  const entries = new Map<string, Entry>();
  /** The end of each doubt, by account. */
  const doubts = new Map<string, number>();

  function findEntry(id: string): Rest | null {
    const entry = entries.get(id);
    if (entry === undefined) return null;
    const leftMs = entry.until - now();
    return leftMs >= MIN_REST_MS ? { kind: entry.kind, leftMs } : null;
  }

  return {
    find(account, model) {
      const rest = findEntry(account);
      const own = model === undefined ? null : findEntry(pairId(account, model));
      return own === null || (rest !== null && rest.leftMs >= own.leftMs) ? rest : own;
    },
    begin(key, { kind, status, model }, { restMs: configuredMs, retryAfterMs }) {
      const id = model === undefined ? key.account : pairId(key.account, model);
      const earlier = findEntry(id);
      const known = entries.get(id);
      const isRepeated = known !== undefined && (earlier === null || known.isRepeated);
      const askedMs = kind === "throttled" ? retryAfterMs ?? configuredMs : configuredMs;
      const restMs = Math.min(askedMs, isRepeated ? MAX_REST_MS : configuredMs);
      if (kind === "rejected" && earlier?.kind !== "rejected") {
        onRejected(key, status, restMs, model);
      }
      if (earlier !== null && earlier.leftMs >= restMs && earlier.kind === kind) return;
      // Requests that ran at the same time may be refused for different reasons.
      const isRejected = kind === "rejected" || earlier?.kind === "rejected";
      const leftMs = Math.max(restMs, earlier?.leftMs ?? 0);
      const until = now() + leftMs;
      const entry = { kind: isRejected ? "rejected" : "throttled", until, isRepeated } as const;
      setLatest(entries, id, entry, MAX_RESTS);
    },
    doubt(account, ms) {
      setLatest(doubts, account, now() + ms, MAX_RESTS);
    },
    isDoubtful: (account) => (doubts.get(account) ?? -Infinity) > now(),
    served(account, model) {
      doubts.delete(account);
      for (const id of [account, pairId(account, model)]) {
        // A request that was sent before the rest says nothing of it.
        if (entries.has(id) && findEntry(id) === null) entries.delete(id);
      }
    },
  };
}

/** Returns the ID of the rest of an account for one model. Digests have no blanks. */
function pairId(account: string, model: string): string {
  return `${account} ${keptName(model)}`;
}
