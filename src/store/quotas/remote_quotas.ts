import type { Stored } from "../object_store.ts";
import type { QuotaDecision, QuotaScope, QuotaStore, QuotaUse } from "../quota_store.ts";

/** A concurrent call of a caller. */
export type LeasedCall = readonly [caller: string, call: string];

/**
 * Quotas in a store beyond the process. Every operation fails with `state_unavailable` while the
 * store cannot be reached; it may have taken effect nevertheless.
 */
export interface RemoteQuotas extends Pick<QuotaStore, "clockAheadMs"> {
  /** Takes a request and a concurrent call from every scope, or nothing from any. */
  admit(scopes: readonly QuotaScope[], call: string): Stored<QuotaDecision>;
  /**
   * Counts what a call has used, unless the ID was settled in the last `rememberMs`. Its concurrent
   * calls end in any case.
   */
  settle(call: string, uses: readonly QuotaUse[], rememberMs: number): Stored<void>;
  /** Extends concurrent calls that have not ended by `LEASE_MS`. */
  renew(leases: readonly LeasedCall[]): Stored<void>;
  /** Ends concurrent calls. */
  release(leases: readonly LeasedCall[]): Stored<void>;
  /** Returns the sums of the callers by window. */
  spent(callers: readonly string[]): Stored<ReadonlyMap<string, ReadonlyMap<string, number>>>;
}
