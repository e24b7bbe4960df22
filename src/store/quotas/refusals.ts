import type { BucketSettings } from "../../traffic/buckets.ts";
import { newLinkedQueue } from "../../traffic/linked_queue.ts";
import type { QuotaDecision, QuotaRest, QuotaScope } from "../quota_store.ts";

/** Refusals of a shared store that are certain to hold for some time. */
export interface Refusals {
  /**
   * Returns the refusal of a call that the store would certainly refuse; null if it may admit it.
   */
  find(scopes: readonly QuotaScope[]): QuotaDecision | null;
  /** Stores the refusal of a rate of requests. `askedAt` is the time of the query. */
  add(scopes: readonly QuotaScope[], decision: QuotaDecision, askedAt: number): void;
  /** Number of stored refusals. */
  readonly size: number;
}

/** Maximum number of callers with a stored refusal; the oldest is forgotten first. */
const MAX_REFUSED_CALLERS = 10_000;

interface Refusal {
  readonly caller: string;
  readonly requests: BucketSettings;
  readonly endsAt: number;
  readonly rest: QuotaRest;
}

/** Rest of a scope that the store has not decided. */
const UNKNOWN_REST: QuotaRest = { requests: null, tokens: null, spent: [] };

/**
 * Returns no refusals. `now` returns milliseconds that never go back. Whatever other replicas do, a
 * token bucket has no token before its time; changed settings end a refusal.
 */
export function newRefusals(now: () => number): Refusals {
  const refusals = new Map<string, { readonly refusal: Refusal; remove(): void }>();
  const order = newLinkedQueue<Refusal>();

  function remove(caller: string) {
    refusals.get(caller)?.remove();
    refusals.delete(caller);
  }

  function findOf({ caller, limits: { requests } }: QuotaScope): Refusal | null {
    const refusal = refusals.get(caller)?.refusal;
    if (refusal === undefined) return null;
    const isSame = requests?.requests_per_minute === refusal.requests.requests_per_minute &&
      requests.burst_size === refusal.requests.burst_size;
    if (isSame && refusal.endsAt > now()) return refusal;
    remove(caller);
    return null;
  }

  return {
    find(scopes) {
      if (refusals.size === 0) return null;
      for (const [scope, asked] of scopes.entries()) {
        const refusal = findOf(asked);
        if (refusal === null) continue;
        return {
          kind: "refused",
          reason: "requests",
          scope,
          window: null,
          waitMs: refusal.endsAt - now(),
          rests: scopes.map((other) => other === asked ? refusal.rest : UNKNOWN_REST),
        };
      }
      return null;
    },
    add(scopes, decision, askedAt) {
      if (decision.kind !== "refused" || decision.reason !== "requests") return;
      const refusing = scopes[decision.scope];
      const rest = decision.rests[decision.scope];
      const requests = refusing?.limits.requests ?? null;
      if (refusing === undefined || rest === undefined || requests === null) return;
      const { caller } = refusing;
      remove(caller);
      const refusal = { caller, requests, endsAt: askedAt + decision.waitMs, rest };
      refusals.set(caller, { refusal, remove: order.push(refusal) });
      if (order.size <= MAX_REFUSED_CALLERS) return;
      const oldest = order.shift();
      if (oldest !== undefined) refusals.delete(oldest.caller);
    },
    get size() {
      return refusals.size;
    },
  };
}
