import { type Awaitable, type Failed, refuse } from "../../core/result.ts";
import type { Call } from "../../call/call.ts";
import { type ClientKey, usdOf } from "../../call/client_key.ts";
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

type Refused = Extract<QuotaDecision, { readonly kind: "refused" }>;

/** Returns the refusal of a call by a limit, and sets `Retry-After`. The message names a group. */
function refuseByLimit(
  call: Call,
  scopes: readonly CallScope[],
  refused: Refused,
): Failed {
  const scope = scopes[refused.scope];
  const { reason } = refused;
  if (reason === "budget") return refuseBudget(call, scope, refused);
  const seconds = setWait(call, refused.waitMs);
  switch (reason) {
    case "requests":
      return refuse("rate_limit_exceeded", `Too many requests; try again in ${seconds} s.`);
    case "tokens": {
      const owner = scope?.group == null ? "" : ` of the group '${scope.group}'`;
      return refuse("token_rate_exceeded", `Too many tokens${owner}; try again in ${seconds} s.`);
    }
    case "concurrency": {
      const most = scope?.limits.maxConcurrent ?? 0;
      return refuse(
        "concurrency_limit_exceeded",
        `Too many concurrent calls: this client key may have ${most}; try again in ${seconds} s.`,
      );
    }
  }
}

/** Sets `Retry-After` and returns its seconds. */
function setWait({ responseHeaders }: Call, waitMs: number): number {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  responseHeaders["retry-after"] = String(seconds);
  return seconds;
}

/** Refuses a call until the window of the budget ends. Official SDKs would repeat it at once otherwise. */
function refuseBudget(call: Call, scope: CallScope | undefined, { window }: Refused): Failed {
  const owner = scope?.group == null ? "this client key" : `the group '${scope.group}'`;
  const budget = scope?.limits.budgets.find((one) => one.window === window);
  call.responseHeaders["x-should-retry"] = "false";
  if (budget === undefined) return refuse("budget_exceeded", `A budget of ${owner} is used up.`);
  const { endMs, limit, per, unit } = budget;
  setWait(call, endMs - budgetWall(call));
  const amount = unit === "usd" ? `${usdOf(limit)} USD` : `${limit} tokens`;
  const end = new Date(endMs).toISOString().replace(".000Z", "Z");
  return refuse(
    "budget_exceeded",
    `The budget of ${owner} of ${amount} per ${per} is used up; its window ends at ${end}.`,
  );
}
