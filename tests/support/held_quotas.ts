import type { Gateway } from "../../src/gateway/gateway.ts";
import { newMemoryQuotas } from "../../src/store/memory/quotas.ts";
import type { QuotaDecision, QuotaStore, QuotaUse } from "../../src/store/quota_store.ts";
import { inTime } from "./in_time.ts";

/** Quotas that decide when the test says so, as a store beyond the process does. */
export interface HeldQuotas extends QuotaStore {
  /** The IDs of the calls that wait for a decision, in their order. */
  readonly asked: readonly string[];
  /** Settled calls. */
  readonly settled: readonly (readonly [call: string, uses: readonly QuotaUse[]])[];
  /** Resolves when this many admissions were requested. */
  reached(count: number): Promise<void>;
  /** Decides the admission at this place of `asked`, by default as a store in memory. */
  decide(at: number, decision?: QuotaDecision): void;
}

/** Replaces the quotas of a gateway by ones that decide when the test says so. */
export function holdQuotas({ state }: Gateway, now: () => number): HeldQuotas {
  const memory = newMemoryQuotas(now);
  const asked: string[] = [];
  const settled: (readonly [string, readonly QuotaUse[]])[] = [];
  const deciders: ((decision?: QuotaDecision) => void)[] = [];
  const waiting: { readonly count: number; resolve(): void }[] = [];
  const quotas: HeldQuotas = {
    asked,
    settled,
    admit(scopes, call) {
      const { promise, resolve } = Promise.withResolvers<QuotaDecision>();
      asked.push(call);
      deciders.push((decision) => resolve(decision ?? memory.admit(scopes, call)));
      for (const { count, resolve } of waiting) if (asked.length >= count) resolve();
      return promise;
    },
    settle: (call, uses) => void settled.push([call, uses]),
    renew: memory.renew,
    spent: memory.spent,
    reached(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (asked.length >= count) resolve();
      else waiting.push({ count, resolve });
      return inTime(promise, () => `${asked.length} calls have asked, not ${count}`);
    },
    decide: (at, decision) => deciders[at]?.(decision),
  };
  Object.assign(state, { quotas });
  return quotas;
}
