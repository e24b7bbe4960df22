import { type Awaitable, cancelled, type Failed } from "../../core/result.ts";
import type { Call } from "../../call/call.ts";
import type { QuotaDecision, QuotaScope } from "../../state/quota_store.ts";
import { internalError } from "../internal_error.ts";

/** Returns the refusal of a call by the decision of the quota store; null if it is admitted. */
type Decide = (decision: QuotaDecision) => Awaitable<Failed | null>;

/**
 * Admits a call to the limits of its callers and returns the result of `decide`, immediately if the
 * store is in memory. A call that is cancelled while the store is asked ends immediately with the
 * reason of its cancellation; a concurrent call that the store grants afterwards is given back.
 */
export function admitToQuotas(
  call: Call,
  scopes: readonly QuotaScope[],
  decide: Decide,
): Awaitable<Failed | null> {
  const decision = call.state.quotas.admit(scopes, call.id);
  return decision instanceof Promise ? waitFor(decision, call, scopes, decide) : decide(decision);
}

function waitFor(
  decision: Promise<QuotaDecision>,
  call: Call,
  scopes: readonly QuotaScope[],
  decide: Decide,
): Promise<Failed | null> {
  const { promise, resolve } = Promise.withResolvers<Failed | null>();
  const unsubscribe = call.cancellation.onCancel((reason) => {
    resolve(cancelled(reason));
  });
  decision.then((decided) => {
    unsubscribe();
    if (call.cancellation.isCancelled) return giveBack(call, scopes, decided);
    resolve(decide(decided));
  }).catch((error: unknown) => resolve(internalError(call, error)));
  return promise;
}

/** Ends the concurrent calls that were granted to a call which does not run. */
function giveBack(
  { id, state }: Call,
  scopes: readonly QuotaScope[],
  decision: QuotaDecision,
): Awaitable<void> {
  const holders = scopes.filter(({ limits }) => limits.maxConcurrent !== null);
  if (decision.kind !== "admitted" || holders.length === 0) return;
  return state.quotas.settle(
    id,
    holders.map(({ caller }) => ({
      caller,
      tokensPerMinute: null,
      holdsSlot: true,
      tokens: 0,
      spends: [],
    })),
  );
}
