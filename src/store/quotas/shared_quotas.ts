import type { FallbackOperation } from "../../data/state_operation.ts";
import type { World } from "../../core/world.ts";
import { newMemoryQuotas, tokenSettings } from "../memory/quotas.ts";
import { SETTLED_TTL_MS } from "../memory/settled_calls.ts";
import {
  isUse,
  type QuotaDecision,
  type QuotaRest,
  type QuotaScope,
  type QuotaStore,
  type QuotaUse,
} from "../quota_store.ts";
import type { StateSettings } from "../settings.ts";
import { storeUnavailable } from "../store_failure.ts";
import { newPendingUses } from "./pending_uses.ts";
import { newRefusals } from "./refusals.ts";
import type { LeasedCall, RemoteQuotas } from "./remote_quotas.ts";
import { sendPending } from "./send_pending.ts";

/** Dependencies of quotas in a store that may be unavailable. */
export interface SharedQuotasOptions {
  readonly world: Pick<World, "now" | "after" | "uuid">;
  readonly onOutage: StateSettings["on_outage"];
  /** Counts an operation that was done in the process because the store is unavailable. */
  onFallback(operation: FallbackOperation): void;
}

/** Quotas in a store that may be unavailable. */
export interface SharedQuotas extends QuotaStore {
  /** Sends what waits for the store once more, then releases all resources. */
  close(): Promise<void>;
}

/** Time between two attempts to send what waits for the store. */
const RETRY_INTERVAL_MS = 1_000;

/** Time for which the last known sum of the store is remembered: longer than a month. */
const KNOWN_SUM_TTL_MS = 32 * 24 * 60 * 60 * 1000;

/**
 * Returns the quotas of a store beyond the process. While the store is unavailable, calls are
 * counted in this process with full limits, budgets from the last known sums on; what they use is
 * sent when the store is back, and counted there once.
 */
export function newSharedQuotas(remote: RemoteQuotas, options: SharedQuotasOptions): SharedQuotas {
  const { world, onOutage, onFallback } = options;
  const now = () => world.now();
  const local = newMemoryQuotas(now);
  const { sums, leases, settled } = local.ledger;
  const refusals = newRefusals(now);
  const pending = newPendingUses(now, () => world.uuid());
  let isAway = false;
  let isClosed = false;
  let sending: Promise<boolean> | null = null;
  let cancelRetry: (() => void) | null = null;

  function failed() {
    isAway = true;
    if (isClosed || cancelRetry !== null || pending.isEmpty) return;
    cancelRetry = world.after(RETRY_INTERVAL_MS, () => {
      cancelRetry = null;
      void send();
    });
  }

  /**
   * Sends what waits; returns false if the store is unavailable. Calls at the same time send once.
   */
  function send(): Promise<boolean> {
    sending ??= sendPending(remote, pending, local.ledger.tokens).then((isSent) => {
      sending = null;
      if (isSent && pending.isEmpty) isAway = false;
      else failed();
      return isSent;
    });
    return sending;
  }

  async function ask(scopes: readonly QuotaScope[], call: string): Promise<QuotaDecision> {
    const askedAt = now();
    const decision = await remote.admit(scopes, call);
    if (!decision.ok) return decideHere(scopes, call);
    isAway = !pending.isEmpty;
    if (decision.value.kind === "unavailable") return decision.value;
    learn(scopes, call, decision.value);
    refusals.add(scopes, decision.value, askedAt);
    return decision.value;
  }

  /** Decides without the store, which may have granted concurrent calls nevertheless. */
  function decideHere(scopes: readonly QuotaScope[], call: string): QuotaDecision {
    const decision: QuotaDecision = onOutage === "refuse"
      ? { kind: "unavailable" }
      : local.admit(scopes, call);
    if (onOutage === "serve") onFallback("admit");
    if (decision.kind !== "admitted") {
      for (const { caller, limits } of scopes) {
        if (limits.maxConcurrent !== null) pending.addRelease([caller, call]);
      }
    }
    failed();
    return decision;
  }

  /** Remembers what the store knows, for the time in which it is unavailable. */
  function learn(scopes: readonly QuotaScope[], call: string, decision: QuotaDecision) {
    if (decision.kind === "unavailable") return;
    for (const [index, { caller, limits }] of scopes.entries()) {
      const isHeld = limits.maxConcurrent !== null && decision.kind === "admitted";
      if (isHeld) leases.add(caller, call);
      for (const [at, { window }] of limits.budgets.entries()) {
        const known = decision.rests[index]?.spent[at] ?? 0;
        // A call that ended meanwhile may be in the sum of this process alone.
        const amount = Math.max(known, sums.get(caller, window));
        sums.set({ caller, window, amount, endsAt: now() + KNOWN_SUM_TTL_MS });
      }
    }
  }

  async function settle(call: string, uses: readonly QuotaUse[]): Promise<void> {
    if (!settled.add(call)) return;
    for (const { caller, spends } of uses) {
      leases.remove(caller, call);
      for (const spend of spends) sums.add(caller, spend);
    }
    if (isAway) return countHere(call, uses);
    const sent = await remote.settle(call, uses, SETTLED_TTL_MS);
    if (sent.ok) return;
    pending.addSent({ call, uses });
    onFallback("settle");
    failed();
  }

  function countHere(call: string, uses: readonly QuotaUse[]) {
    for (const { caller, tokensPerMinute, tokens } of uses) {
      if (tokensPerMinute === null || tokens === 0) continue;
      local.ledger.tokens.charge(caller, tokenSettings(tokensPerMinute), tokens);
    }
    pending.addUnsent(call, uses);
    onFallback("settle");
    failed();
  }

  async function renew(running: readonly LeasedCall[]): Promise<void> {
    const renewed = await remote.renew(running);
    if (renewed.ok) return;
    onFallback("renew");
    failed();
  }

  return {
    clockAheadMs: () => remote.clockAheadMs?.() ?? 0,
    admit(scopes, call) {
      if (!scopes.some(hasLimit)) return { kind: "admitted", rests: scopes.map(() => NO_REST) };
      const known = refusals.find(scopes);
      if (known !== null) return known;
      // The store must know what this process has counted before it decides again.
      return pending.isEmpty ? ask(scopes, call) : decideHere(scopes, call);
    },
    settle(call, uses) {
      const counted = uses.filter(isUse);
      return counted.length === 0 ? undefined : settle(call, counted);
    },
    renew(running) {
      const all = [...running];
      local.renew(all);
      return all.length === 0 ? undefined : renew(all);
    },
    async spent(callers) {
      if (!pending.isEmpty && !await send()) return storeUnavailable();
      const found = await remote.spent(callers);
      if (!found.ok) failed();
      return found;
    },
    async close() {
      isClosed = true;
      cancelRetry?.();
      if (!pending.isEmpty) await send();
    },
  };
}

const NO_REST: QuotaRest = { requests: null, tokens: null, spent: [] };

function hasLimit({ limits }: QuotaScope): boolean {
  const { requests, tokensPerMinute, maxConcurrent, budgets } = limits;
  return requests !== null || tokensPerMinute !== null || maxConcurrent !== null ||
    budgets.length > 0;
}
