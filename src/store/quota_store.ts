import type { LimitReason } from "../core/failure/failure.ts";
import type { BucketSettings } from "../traffic/buckets.ts";
import type { Stored } from "./object_store.ts";

/** Limits of one caller: a client key, a group of keys, or a client address. */
export interface QuotaLimits {
  /** Rate of requests; null for no limit. */
  readonly requests: BucketSettings | null;
  /** Tokens of models per minute, which is also the most at once; null for no limit. */
  readonly tokensPerMinute: number | null;
  /** Maximum number of concurrent calls over all replicas; null for no limit. */
  readonly maxConcurrent: number | null;
  /** Budgets in their current windows. A call is admitted while each has something left. */
  readonly budgets: readonly WindowBudget[];
}

/** A budget in one calendar window. */
export interface WindowBudget {
  /** Name of the sum that counts against the budget, such as `usd d:2026-11-22`. */
  readonly window: string;
  /** Maximum of the sum: tokens, or nano-dollars. */
  readonly limit: number;
}

/** A caller whose limits a call counts against. */
export interface QuotaScope {
  /** Identity of the caller, such as `key NAME`, `group NAME` or `address NETWORK`. */
  readonly caller: string;
  readonly limits: QuotaLimits;
}

/**
 * Rest of one caller's limits. A refusal that is known without the store has only figures
 * of the scope that refuses; those of the rest are null and empty.
 */
export interface QuotaRest {
  /** Requests that may be sent immediately; null if no rate is set. */
  readonly requests: number | null;
  /** Tokens that may be used immediately; negative if more were used. Null without a rate. */
  readonly tokens: number | null;
  /** Sums of the budget windows before this call, in the order of the budgets. */
  readonly spent: readonly number[];
}

/** The limit that refuses a call. */
export type QuotaReason = LimitReason;

/**
 * Result of an admission. `unavailable` means that the store cannot be reached and the
 * configuration refuses such calls. `isClock` means that the windows of the budgets are not those
 * of the store's clock, which is known from now on: nothing was taken, and the caller asks again
 * with other windows.
 */
export type QuotaDecision =
  | { readonly kind: "admitted"; readonly rests: readonly QuotaRest[] }
  | {
    readonly kind: "refused";
    readonly reason: QuotaReason;
    /** The scope that refuses, as an index. */
    readonly scope: number;
    /** Window of the budget that is spent; null for the other reasons. */
    readonly window: string | null;
    /** Milliseconds until a call may be admitted; 0 for a budget, whose window the caller knows. */
    readonly waitMs: number;
    readonly rests: readonly QuotaRest[];
  }
  | { readonly kind: "unavailable"; readonly isClock?: true };

/** Use of one caller's limits by a finished call. */
export interface QuotaUse {
  readonly caller: string;
  /** Rate that the tokens count against. */
  readonly tokensPerMinute: number | null;
  /** True if the call holds one of the caller's concurrent calls. */
  readonly holdsSlot: boolean;
  /** Tokens that the call has used. */
  readonly tokens: number;
  /** Amounts to add to sums: integers, in the unit of the window. */
  readonly spends: readonly Spend[];
}

/**
 * True if a call has used something of the caller's limits, or holds one of its concurrent calls.
 */
export function isUse({ tokensPerMinute, tokens, holdsSlot, spends }: QuotaUse): boolean {
  return holdsSlot || spends.length > 0 || (tokensPerMinute !== null && tokens > 0);
}

/**
 * Time for which the sum of a window is stored beyond its end, so that a clock that is set back
 * finds it again.
 */
export const WINDOW_MARGIN_MS = 24 * 60 * 60 * 1000;

/** An amount for one sum. */
export interface Spend {
  readonly window: string;
  readonly amount: number;
  /** Milliseconds after which the sum may be forgotten. */
  readonly ttlMs: number;
}

/** Rates, concurrent calls and sums of callers. A store in memory returns no promises. */
export interface QuotaStore {
  /**
   * Returns the milliseconds by which the clock of the store is ahead of that of this process, as
   * far as it is known; absent for the clock of this process.
   */
  clockAheadMs?(): number;
  /**
   * Clients that the configuration does not name and that have spent something before the start of
   * the process, each with the time at which its last window ends; absent for none.
   */
  readonly earlier?: ReadonlyMap<string, number>;
  /**
   * Takes a request and a concurrent call from every scope, or nothing from any. Each scope is
   * checked in the order budgets, tokens, concurrent calls, requests. `call` is the ID of the call.
   */
  admit(
    scopes: readonly QuotaScope[],
    call: string,
  ): QuotaDecision | Promise<QuotaDecision>;
  /**
   * Charges a finished call. Idempotent per call ID; a call without use is not recorded as settled.
   */
  settle(call: string, uses: readonly QuotaUse[]): void | Promise<void>;
  /** Extends the concurrent calls of the running calls by `LEASE_MS`. */
  renew(running: Iterable<readonly [caller: string, call: string]>): void | Promise<void>;
  /** Returns the sums of the callers by window. */
  spent(callers: readonly string[]): Stored<ReadonlyMap<string, ReadonlyMap<string, number>>>;
}

/** Time after which a concurrent call ends by itself if its replica does not renew it. */
export const LEASE_MS = 30_000;
