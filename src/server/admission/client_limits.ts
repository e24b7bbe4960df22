import type { Awaitable } from "../../core/awaitable.ts";
import type { Failed } from "../../core/result.ts";
import type { Call } from "../../call/call.ts";
import type { ClientKey } from "../../call/client_key.ts";
import { Meter } from "../../call/meter.ts";
import {
  budgetWall,
  type CallQuotas,
  type CallScope,
  limitedCallers,
  scopesNow,
} from "../../call/quotas.ts";
import type { BucketSettings } from "../../state/buckets.ts";
import type { QuotaDecision } from "../../state/quota_store.ts";
import { storeUnavailable } from "../../state/store_failure.ts";
import { setBudgetHeader, setRateHeaders, setTokenHeaders } from "./limit_headers.ts";
import { refuseByLimit } from "./limit_refusals.ts";
import { admitToQuotas } from "./quota_admission.ts";

/**
 * Admits a call of a client key to all limits of the key and its groups at once, in the order budgets,
 * tokens, concurrent calls, requests. Returns null if it is admitted; a promise if the limits are
 * counted in a shared store. A refused call takes nothing from any limit. Fails as `state_unavailable` if
 * the store is away and `state.on_outage` is `refuse`.
 */
export function admitClient(
  call: Call,
  key: ClientKey,
  requests: BucketSettings | null,
  clockReplies = 0,
): Awaitable<Failed | null> {
  const callers = limitedCallers(key);
  const quotas: CallQuotas = { callers, calendar: call.generation.calendar };
  const scopes = scopesNow(quotas, requests, budgetWall(call));
  return admitToQuotas(call, scopes, (decision) => {
    if (decision.kind === "unavailable") {
      return decision.isClock === true && clockReplies < MAX_CLOCK_REPLIES
        ? admitClient(call, key, requests, clockReplies + 1)
        : storeUnavailable();
    }
    setHeaders(call, scopes, decision);
    if (decision.kind === "refused") return refuseByLimit(call, scopes, decision);
    call.client.quotas = quotas;
    const holders = callers.filter(({ limits }) => limits.maxConcurrent !== null);
    if (holders.length > 0) call.state.leases.add(call.id, holders.map(({ caller }) => caller));
    return null;
  });
}

/** Maximum number of times that a store corrects the clock of one admission. */
const MAX_CLOCK_REPLIES = 2;

/** Begins to meter an admitted call of a client key. */
export function meterCall({ client }: Call): void {
  client.meter = new Meter();
}

type Rests = Extract<QuotaDecision, { readonly kind: "refused" | "admitted" }>["rests"];

function setHeaders(
  { responseHeaders }: Call,
  scopes: readonly CallScope[],
  { rests }: { readonly rests: Rests },
): void {
  const requests = scopes[0]?.limits.requests ?? null;
  const remaining = rests[0]?.requests ?? null;
  if (requests !== null && remaining !== null) {
    setRateHeaders(responseHeaders, requests.requests_per_minute, remaining);
  }
  setTokenHeaders(responseHeaders, scopes, rests);
  setBudgetHeader(responseHeaders, scopes, rests);
}
