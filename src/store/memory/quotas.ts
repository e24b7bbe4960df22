import { success } from "../../core/failure/result.ts";
import { type Buckets, type BucketSettings, newBucketsByKind } from "../../traffic/buckets.ts";
import {
  isUse,
  type QuotaDecision,
  type QuotaReason,
  type QuotaRest,
  type QuotaScope,
  type QuotaStore,
  type QuotaUse,
} from "../quota_store.ts";
import { type Leases, newLeases } from "./leases.ts";
import { newSettledCalls, type SettledCalls } from "./settled_calls.ts";
import { newSumsByKind, type Sum, type Sums } from "./sums.ts";

/** Quotas in the memory of the process. Everything in them is bounded. */
export interface MemoryQuotas extends QuotaStore {
  admit(scopes: readonly QuotaScope[], call: string): QuotaDecision;
  settle(call: string, uses: readonly QuotaUse[]): void;
  renew(running: Iterable<readonly [caller: string, call: string]>): void;
  readonly ledger: QuotaLedger;
}

/** Parts of quotas in memory. */
export interface QuotaLedger {
  readonly requests: Buckets;
  readonly tokens: Buckets;
  readonly leases: Leases;
  readonly sums: Sums;
  readonly settled: SettledCalls;
}

/** Time after which a caller at its maximum of concurrent calls may try again. */
export const CONCURRENCY_WAIT_MS = 1_000;

/** Maximum time of a caller without a token until its next one; more use is not counted. */
export const MAX_TOKEN_DEBT_MS = 1e12;

/** Returns quotas of which nothing is used. `now` returns milliseconds that never go back. */
export function newMemoryQuotas(now: () => number): MemoryQuotas {
  const ledger: QuotaLedger = {
    requests: newBucketsByKind(now),
    tokens: newBucketsByKind(now, MAX_TOKEN_DEBT_MS),
    leases: newLeases(now),
    sums: newSumsByKind(now),
    settled: newSettledCalls(now),
  };
  return {
    ledger,
    admit: (scopes, call) => admit(ledger, scopes, call),
    settle: (call, uses) => void settleIn(ledger, call, uses),
    renew(running) {
      for (const [caller, call] of running) ledger.leases.renew(caller, call);
    },
    spent(callers) {
      const windows = (caller: string) =>
        new Map(ledger.sums.of(caller).map(({ window, amount }) => [window, amount]));
      return Promise.resolve(success(new Map(callers.map((caller) => [caller, windows(caller)]))));
    },
  };
}

/** Returns the bucket settings of a rate of tokens, whose burst is that of one minute. */
export function tokenSettings(tokensPerMinute: number): BucketSettings {
  return { requests_per_minute: tokensPerMinute, burst_size: tokensPerMinute };
}

function admit(
  ledger: QuotaLedger,
  scopes: readonly QuotaScope[],
  call: string,
): QuotaDecision {
  const [only] = scopes;
  if (scopes.length === 1 && only !== undefined && hasOnlyRate(only)) return take(ledger, only);
  const rests = scopes.map((scope) => restOf(ledger, scope));
  for (const [scope, { caller, limits }] of scopes.entries()) {
    const refusal = refusalOf(ledger, caller, limits);
    if (refusal !== null) return { kind: "refused", scope, rests, ...refusal };
  }
  const after = scopes.map(({ caller, limits }, index): QuotaRest => {
    const { requests, tokens, spent } = rests[index] ?? NO_REST;
    if (limits.maxConcurrent !== null) ledger.leases.add(caller, call);
    if (limits.requests === null) return { requests, tokens, spent };
    return { requests: ledger.requests.take(caller, limits.requests).remaining, tokens, spent };
  });
  return { kind: "admitted", rests: after };
}

function hasOnlyRate({ limits: { tokensPerMinute, maxConcurrent, budgets } }: QuotaScope): boolean {
  return tokensPerMinute === null && maxConcurrent === null && budgets.length === 0;
}

const NO_SUMS: readonly number[] = [];
const NO_REST: QuotaRest = { requests: null, tokens: null, spent: NO_SUMS };
const NO_LIMIT: QuotaDecision = { kind: "admitted", rests: [NO_REST] };

/** Admits a call that only has a rate of requests, which is the most frequent limit. */
function take({ requests }: QuotaLedger, { caller, limits }: QuotaScope): QuotaDecision {
  if (limits.requests === null) return NO_LIMIT;
  const { isTaken, remaining, waitMs } = requests.take(caller, limits.requests);
  const rests = [{ requests: remaining, tokens: null, spent: NO_SUMS }];
  return isTaken
    ? { kind: "admitted", rests }
    : { kind: "refused", reason: "requests", scope: 0, window: null, waitMs, rests };
}

function restOf(ledger: QuotaLedger, { caller, limits }: QuotaScope): QuotaRest {
  const { requests, tokensPerMinute, budgets } = limits;
  return {
    requests: requests === null ? null : ledger.requests.look(caller, requests).remaining,
    tokens: tokensPerMinute === null
      ? null
      : ledger.tokens.look(caller, tokenSettings(tokensPerMinute)).remaining,
    spent: budgets.map(({ window }) => ledger.sums.get(caller, window)),
  };
}

/** Why a scope refuses a call, and for how long. */
interface ScopeRefusal {
  readonly reason: QuotaReason;
  readonly window: string | null;
  readonly waitMs: number;
}

function refusalOf(
  ledger: QuotaLedger,
  caller: string,
  { budgets, tokensPerMinute, maxConcurrent, requests }: QuotaScope["limits"],
): ScopeRefusal | null {
  const budget = budgets.find(({ window, limit }) => ledger.sums.get(caller, window) >= limit);
  if (budget !== undefined) return { reason: "budget", window: budget.window, waitMs: 0 };
  const tokenWaitMs = tokensPerMinute === null
    ? 0
    : ledger.tokens.look(caller, tokenSettings(tokensPerMinute)).waitMs;
  if (tokenWaitMs > 0) return { reason: "tokens", window: null, waitMs: tokenWaitMs };
  if (maxConcurrent !== null && ledger.leases.count(caller) >= maxConcurrent) {
    return { reason: "concurrency", window: null, waitMs: CONCURRENCY_WAIT_MS };
  }
  const waitMs = requests === null ? 0 : ledger.requests.look(caller, requests).waitMs;
  return waitMs > 0 ? { reason: "requests", window: null, waitMs } : null;
}

/**
 * Counts what a call has used. Returns the changed sums; null if it used nothing or was counted
 * before. Its concurrent calls end in any case.
 */
export function settleIn(
  { leases, settled, tokens, sums }: QuotaLedger,
  call: string,
  uses: readonly QuotaUse[],
): readonly Sum[] | null {
  if (!uses.some(isUse)) return null;
  for (const { caller, holdsSlot } of uses) if (holdsSlot) leases.remove(caller, call);
  if (!settled.add(call)) return null;
  return uses.flatMap(({ caller, tokensPerMinute, tokens: used, spends }) => {
    if (tokensPerMinute !== null && used > 0) {
      tokens.charge(caller, tokenSettings(tokensPerMinute), used);
    }
    return spends.map((spend) => sums.add(caller, spend));
  });
}
