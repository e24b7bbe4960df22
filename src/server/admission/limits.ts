import { type Awaitable, cancelled, type Failed, refuse } from "../../core/failure/result.ts";
import type { Call, CountedSubject } from "../../call/call.ts";
import { MAX_END_USERS } from "../../core/end_users.ts";
import { MAX_SUBJECTS } from "../../traffic/subjects.ts";
import { type ClientKey, usdOf } from "../../access/client_key.ts";
import {
  budgetWall,
  type CallQuotas,
  type CallScope,
  limitedCallers,
  scopesNow,
} from "../../access/quotas.ts";
import type { BucketSettings } from "../../traffic/buckets.ts";
import type { QuotaDecision, QuotaScope } from "../../store/quota_store.ts";
import { storeUnavailable } from "../../store/store_failure.ts";
import { internalError } from "../internal_error.ts";
import { setBudgetHeader, setRateHeaders, setTokenHeaders } from "./limit_headers.ts";

/** Limits that a call counts against. */
interface CallLimits {
  readonly caller: string;
  /** Rate of requests; null for no limit. */
  readonly requests: BucketSettings | null;
  /** Other limits of a client key and its groups; null for none. */
  readonly quotas: CallQuotas | null;
  /** The client, if the configuration does not name it; absent for every other one. */
  readonly subject?: CountedSubject;
}

/** Returns the limits of a call of a client key; null for no limit. */
export function keyLimits({ generation }: Call, key: ClientKey): CallLimits | null {
  const { calendar, config: { rate_limiting: rate } } = generation;
  if (!rate.enabled && key.limits === null) return null;
  const requests_per_minute = key.requestsPerMinute ?? rate.requests_per_minute;
  const requests = rate.enabled ? { requests_per_minute, burst_size: rate.burst_size } : null;
  return {
    caller: key.caller,
    requests,
    quotas: key.limits === null ? null : { callers: limitedCallers(key), calendar },
    ...subjectOf(key, requests),
  };
}

/** Returns the client to count, if the configuration does not name it; nothing otherwise. */
function subjectOf(
  { issuer, caller, limits, endUsers, name }: ClientKey,
  requests: BucketSettings | null,
): Pick<CallLimits, "subject"> {
  const rateMs = requests === null ? 0 : fullRateMs(requests);
  if (issuer !== null) return { subject: { pool: TOKEN_POOL, caller, max: MAX_SUBJECTS, rateMs } };
  const user = limits?.groups.find((group) => group.user !== undefined);
  if (endUsers === null || user === undefined) return {};
  const rate = user.user?.requestsPerMinute ?? null;
  const userMs = rate === null || requests === null
    ? 0
    : fullRateMs({ ...requests, requests_per_minute: rate });
  const pool = `users of ${name}`;
  return { subject: { pool, caller: user.caller, max: endUsers.max, rateMs: userMs } };
}

/** Pool of the clients with tokens. */
const TOKEN_POOL = "tokens";

/** Returns the milliseconds in which an empty bucket is full again. */
function fullRateMs({ requests_per_minute, burst_size }: BucketSettings): number {
  return burst_size * 60_000 / requests_per_minute;
}

/** Returns the rate of a caller without a key; null for no limit. */
export function callerRate({ generation }: Call, caller: () => string): CallLimits | null {
  const { enabled, requests_per_minute, burst_size } = generation.config.rate_limiting;
  if (!enabled) return null;
  return { caller: caller(), requests: { requests_per_minute, burst_size }, quotas: null };
}

/** Maximum number of times that a store corrects the clock of one admission. */
const MAX_CLOCK_REPLIES = 2;

/**
 * Admits a call to all its limits at once, in the order budgets, tokens, concurrent calls,
 * requests, and sets their headers. Returns null if it is admitted; a promise if the limits are
 * counted in a shared store. A refused call takes nothing from any limit. Fails as
 * `state_unavailable` if the store is unavailable and `state.on_outage` is `refuse`.
 */
export function takeLimits(
  call: Call,
  limits: CallLimits | null,
  clockReplies = 0,
): Awaitable<Failed | null> {
  if (limits === null) return null;
  const { requests, quotas } = limits;
  const full = clockReplies > 0 ? null : enterSubject(call, limits.subject);
  if (full !== null) return full;
  const scopes = quotas === null
    ? rateScopes(limits)
    : scopesNow(quotas, requests, budgetWall(call));
  return admitToQuotas(call, scopes, (decision) => {
    if (decision.kind === "unavailable") {
      return decision.isClock === true && clockReplies < MAX_CLOCK_REPLIES
        ? takeLimits(call, limits, clockReplies + 1)
        : storeUnavailable();
    }
    const { responseHeaders } = call;
    const { rests } = decision;
    const remaining = rests[0]?.requests ?? null;
    if (requests !== null && remaining !== null) {
      setRateHeaders(responseHeaders, requests.requests_per_minute, remaining);
    }
    if (quotas !== null) {
      setTokenHeaders(responseHeaders, scopes, rests);
      setBudgetHeader(responseHeaders, scopes, rests);
    }
    if (decision.kind === "refused") return refuseByLimit(call, scopes, decision);
    if (quotas !== null) holdConcurrent(call, quotas);
    return null;
  });
}

/** Time after which a client for which there is no room may try again, in seconds. */
const ROOM_WAIT_S = 60;

/**
 * Counts a client that the configuration does not name. Returns the refusal without room for it.
 */
function enterSubject(call: Call, subject: CountedSubject | undefined): Failed | null {
  if (subject === undefined) return null;
  const { pool, caller, max } = subject;
  if (call.state.subjects.enter(pool, caller, max)) {
    call.client.subject = subject;
    return null;
  }
  call.responseHeaders["retry-after"] = String(ROOM_WAIT_S);
  if (pool !== TOKEN_POOL) {
    return refuse(
      "too_many_end_users",
      `The gateway counts limits of ${max} end users of this client key, and of ${MAX_END_USERS} ` +
        `in all, and has no room for one more; try again in ${ROOM_WAIT_S} s.`,
    );
  }
  return refuse(
    "too_many_clients",
    `The gateway counts limits of ${max} clients with tokens, and has no room for one more; ` +
      `try again in ${ROOM_WAIT_S} s.`,
  );
}

const NO_BUDGETS: CallScope["limits"]["budgets"] = [];

function rateScopes({ caller, requests }: CallLimits): readonly CallScope[] {
  const limits = { requests, tokensPerMinute: null, maxConcurrent: null, budgets: NO_BUDGETS };
  return [{ caller, group: null, limits }];
}

/**
 * Stores the limits of an admitted call for its end, and renews its concurrent calls until then.
 */
function holdConcurrent({ id, client, state }: Call, quotas: CallQuotas): void {
  client.quotas = quotas;
  const holders = quotas.callers.filter(({ limits }) => limits.maxConcurrent !== null);
  if (holders.length > 0) state.leases.add(id, holders.map(({ caller }) => caller));
}

/** Returns the refusal of a call by the decision of the quota store; null if it is admitted. */
type Decide = (decision: QuotaDecision) => Awaitable<Failed | null>;

/**
 * Admits a call to the limits of its callers and returns the result of `decide`, immediately if the
 * store is in memory. A call that is cancelled while the store is queried ends immediately with the
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
      return refuse(
        "rate_limit_exceeded",
        scope?.user === undefined
          ? `Too many requests; try again in ${seconds} s.`
          : `Too many requests of this user; try again in ${seconds} s.`,
      );
    case "tokens": {
      const owner = scope?.group == null ? "" : ` of ${ownerText(scope)}`;
      return refuse("token_rate_exceeded", `Too many tokens${owner}; try again in ${seconds} s.`);
    }
    case "concurrency": {
      const most = scope?.limits.maxConcurrent ?? 0;
      const owner = ownerText(scope);
      return refuse(
        "concurrency_limit_exceeded",
        `Too many concurrent calls: ${owner} may have ${most}; try again in ${seconds} s.`,
      );
    }
  }
}

/** Returns who has the limits of a scope. */
function ownerText(scope: CallScope | undefined): string {
  if (scope?.user !== undefined) return "this user";
  return scope?.group == null ? "this client key" : `the group '${scope.group}'`;
}

/** Sets `Retry-After` and returns its seconds. */
function setWait({ responseHeaders }: Call, waitMs: number): number {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  responseHeaders["retry-after"] = String(seconds);
  return seconds;
}

/**
 * Refuses a call until the window of the budget ends. Official SDKs would repeat it at once
 * otherwise.
 */
function refuseBudget(call: Call, scope: CallScope | undefined, { window }: Refused): Failed {
  const owner = ownerText(scope);
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
