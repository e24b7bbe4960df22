import type { Result } from "../../core/failure/result.ts";
import type { Buckets } from "../../traffic/buckets.ts";
import { SETTLED_TTL_MS } from "../memory/settled_calls.ts";
import type { QuotaUse } from "../quota_store.ts";
import type { PendingUses, TokenDebts } from "./pending_uses.ts";
import type { RemoteQuotas } from "./remote_quotas.ts";

/** Time for which the store remembers the ID of sums that were sent together. */
const BATCH_TTL_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Sends what waits for the store until nothing is left. Returns false at the first failure, after
 * which the same IDs are sent again: the store counts each of them once. `tokens` are the
 * buckets of this process, which are full again afterwards.
 */
export async function sendPending(
  remote: RemoteQuotas,
  pending: PendingUses,
  tokens: Buckets,
): Promise<boolean> {
  while (!pending.isEmpty) {
    if (!await sendSettles(remote, pending) || !await sendBatches(remote, pending)) return false;
    const debts = pending.tokenDebts();
    if (debts !== null) {
      const uses = debtUses(debts, tokens);
      if (!isOver(await remote.settle(debts.id, uses, BATCH_TTL_MS))) return false;
      pending.removeTokenDebts();
      tokens.clear();
    }
    const releases = pending.takeReleases();
    if (releases.length > 0 && !isOver(await remote.release(releases))) return false;
  }
  return true;
}

/** True if an operation need not be repeated: a record that cannot be read stays so. */
function isOver(result: Result<void>): boolean {
  return result.ok || result.failure.kind !== "state_unavailable";
}

async function sendSettles(remote: RemoteQuotas, pending: PendingUses): Promise<boolean> {
  for (let sent = pending.sent(); sent.length > 0; sent = pending.sent()) {
    const results = await Promise.all(sent.map(async ({ call, uses }) => {
      const isSettled = isOver(await remote.settle(call, uses, SETTLED_TTL_MS));
      if (isSettled) pending.removeSent(call);
      return isSettled;
    }));
    if (results.includes(false)) return false;
  }
  return true;
}

async function sendBatches(remote: RemoteQuotas, pending: PendingUses): Promise<boolean> {
  for (let batch = pending.batch(); batch !== null; batch = pending.batch()) {
    if (!isOver(await remote.settle(batch.id, batch.uses, BATCH_TTL_MS))) return false;
    pending.removeBatch();
  }
  return true;
}

/**
 * Returns the tokens that are lacking in the buckets of this process. What a bucket has regained
 * since would be regained in the store too.
 */
function debtUses({ rates }: TokenDebts, buckets: Buckets): readonly QuotaUse[] {
  return [...rates].map(([caller, tokensPerMinute]) => ({
    caller,
    tokensPerMinute,
    holdsSlot: false,
    tokens: buckets.lacking(caller) * tokensPerMinute / 60_000,
    spends: [],
  }));
}
