import { newSumsByKind, type Sums } from "../memory/sums.ts";
import { newLinkedQueue } from "../../traffic/linked_queue.ts";
import { LEASE_MS, type QuotaUse } from "../quota_store.ts";
import type { LeasedCall } from "./remote_quotas.ts";

/** A use that may have been counted already, so that it is sent with the ID of its call again. */
export interface SentUse {
  readonly call: string;
  readonly uses: readonly QuotaUse[];
}

/** Sums of several calls that are counted together, once, under one ID. */
export interface SumBatch {
  readonly id: string;
  /** Uses without tokens; each amount is the sum over calls. */
  readonly uses: readonly QuotaUse[];
}

/** Callers with tokens that were not counted in the store, under the ID that counts them once. */
export interface TokenDebts {
  readonly id: string;
  /** Tokens per minute of each caller. */
  readonly rates: ReadonlyMap<string, number>;
}

/** Uses of calls while the store could not be reached. */
export interface PendingUses {
  readonly isEmpty: boolean;
  /** Adds the use of a call that was sent to the store, whether or not it was counted there. */
  addSent(use: SentUse): void;
  /** Adds the use of a call that was not sent to the store: one sum for each caller and window. */
  addUnsent(call: string, uses: readonly QuotaUse[]): void;
  /** Adds a concurrent call that may have to end in the store. */
  addRelease(lease: LeasedCall): void;
  /** Returns the oldest sent uses. */
  sent(): readonly SentUse[];
  /** Removes a sent use that is counted. */
  removeSent(call: string): void;
  /** Returns the next sums, always the same ones until they are removed; null if there are none. */
  batch(): SumBatch | null;
  removeBatch(): void;
  /** Removes and returns the concurrent calls whose lease has not ended by itself. */
  takeReleases(): readonly LeasedCall[];
  /** Returns the callers whose tokens were not counted in the store; null if there are none. */
  tokenDebts(): TokenDebts | null;
  removeTokenDebts(): void;
}

/** Maximum number of sent uses. Above it, the oldest is added to the sums. */
const MAX_SENT_USES = 10_000;

/** Maximum number of sent uses that are sent at once, and of amounts in a batch. */
const MAX_BATCH_USES = 100, MAX_BATCH_AMOUNTS = 500;

/** Maximum number of concurrent calls to end; the oldest is forgotten first, and ends by itself. */
const MAX_RELEASES = 10_000;

/** Maximum number of callers with uncounted tokens. */
const MAX_TOKEN_CALLERS = 1_000;

/** Returns no uses. `now` returns milliseconds that never go back. */
export function newPendingUses(now: () => number, newId: () => string): PendingUses {
  const sent = new Map<string, SentUse>();
  const releases = newLinkedQueue<{ readonly lease: LeasedCall; readonly endsAt: number }>();
  const rates = new Map<string, number>();
  let debtsId = newId();
  let sums: Sums = newSumsByKind(now);
  let batches: SumBatch[] = [];

  function addSums(uses: readonly QuotaUse[]) {
    for (const { caller, spends } of uses) for (const spend of spends) sums.add(caller, spend);
  }

  function addRelease(lease: LeasedCall) {
    releases.push({ lease, endsAt: now() + LEASE_MS });
    if (releases.size > MAX_RELEASES) releases.shift();
  }

  /** Turns all sums into batches; later uses make new sums. */
  function freeze() {
    const frozen = sums;
    sums = newSumsByKind(now);
    const time = now();
    const amounts = [...frozen.callers()].flatMap((caller) => frozen.of(caller));
    for (let at = 0; at < amounts.length; at += MAX_BATCH_AMOUNTS) {
      const uses = amounts.slice(at, at + MAX_BATCH_AMOUNTS).map((sum): QuotaUse => ({
        caller: sum.caller,
        tokensPerMinute: null,
        holdsSlot: false,
        tokens: 0,
        spends: [{ window: sum.window, amount: sum.amount, ttlMs: sum.endsAt - time }],
      }));
      batches.push({ id: newId(), uses });
    }
  }

  return {
    get isEmpty() {
      return sent.size + releases.size + rates.size + sums.size + batches.length === 0;
    },
    addSent(use) {
      sent.set(use.call, use);
      const [oldest] = sent.size > MAX_SENT_USES ? sent.values() : [];
      if (oldest === undefined) return;
      sent.delete(oldest.call);
      addSums(oldest.uses);
    },
    addUnsent(call, uses) {
      addSums(uses);
      for (const { caller, holdsSlot, tokensPerMinute, tokens } of uses) {
        if (holdsSlot) addRelease([caller, call]);
        if (tokensPerMinute === null || tokens === 0) continue;
        if (rates.size < MAX_TOKEN_CALLERS) rates.set(caller, tokensPerMinute);
      }
    },
    addRelease,
    sent: () => sent.values().take(MAX_BATCH_USES).toArray(),
    removeSent: (call) => void sent.delete(call),
    batch() {
      if (batches.length === 0 && sums.size > 0) freeze();
      return batches[0] ?? null;
    },
    removeBatch: () => void (batches = batches.slice(1)),
    takeReleases() {
      const time = now();
      const leases: LeasedCall[] = [];
      for (let oldest = releases.shift(); oldest !== undefined; oldest = releases.shift()) {
        if (oldest.endsAt > time) leases.push(oldest.lease);
      }
      return leases;
    },
    tokenDebts: () => rates.size === 0 ? null : { id: debtsId, rates },
    removeTokenDebts() {
      rates.clear();
      debtsId = newId();
    },
  };
}
