import { type Awaitable, type Failed, refuse } from "../../core/result.ts";
import type { Call } from "../../call/call.ts";
import type { ClientKey } from "../../call/client_key.ts";
import { ADDRESS_PREFIX } from "../../state/buckets.ts";
import type { WindowBudget } from "../../state/quota_store.ts";
import { storeUnavailable } from "../../state/store_failure.ts";
import { admitClient } from "./client_limits.ts";
import { setRateHeaders } from "./limit_headers.ts";
import { admitToQuotas } from "./quota_admission.ts";

/** Client name of calls from the dashboard. */
export const REMOTE_CONTROL = "remote control";

/**
 * Admits a call to the limits of the client key, or takes a token from the bucket of the client's
 * network without a key.
 * Returns null if there was a token or no rate limit applies; a promise if the rates are in a shared
 * store. Refused as `rate_limit_exceeded`, with the seconds to wait. `X-RateLimit-Limit` is the
 * requests per minute, `X-RateLimit-Remaining` the number of requests that may be sent immediately.
 * Fails as `state_unavailable` if the store is away and `state.on_outage` is `refuse`.
 */
export function takeToken(
  call: Call,
  key: ClientKey | null,
  network: () => string,
): Awaitable<Failed | null> {
  if (key === null) return takeAddressToken(call, network);
  const { enabled, burst_size, ...standard } = call.generation.config.rate_limiting;
  const requests_per_minute = key.requestsPerMinute ?? standard.requests_per_minute;
  if (key.limits !== null) {
    return admitClient(call, key, enabled ? { requests_per_minute, burst_size } : null);
  }
  return enabled ? takeFrom(call, key.caller, requests_per_minute) : null;
}

/**
 * Takes a token like `takeToken` for a request without a valid key, from the bucket of its network.
 */
export function takeAddressToken(call: Call, network: () => string): Awaitable<Failed | null> {
  const { enabled, requests_per_minute } = call.generation.config.rate_limiting;
  return enabled ? takeFrom(call, ADDRESS_PREFIX + network(), requests_per_minute) : null;
}

/** Takes a token like `takeToken` for calls from the dashboard, which share one bucket. */
export function takeRemoteToken(call: Call): Awaitable<Failed | null> {
  const { enabled, requests_per_minute } = call.generation.config.rate_limiting;
  return enabled ? takeFrom(call, REMOTE_CONTROL, requests_per_minute) : null;
}

const NO_BUDGETS: readonly WindowBudget[] = [];

function takeFrom(
  call: Call,
  caller: string,
  requests_per_minute: number,
): Awaitable<Failed | null> {
  const { generation: { config }, responseHeaders } = call;
  const limits = {
    requests: { requests_per_minute, burst_size: config.rate_limiting.burst_size },
    tokensPerMinute: null,
    maxConcurrent: null,
    budgets: NO_BUDGETS,
  };
  return admitToQuotas(call, [{ caller, limits }], (decision) => {
    if (decision.kind === "unavailable") return storeUnavailable();
    setRateHeaders(responseHeaders, requests_per_minute, decision.rests[0]?.requests ?? 0);
    if (decision.kind === "admitted") return null;
    const seconds = Math.max(1, Math.ceil(decision.waitMs / 1000));
    responseHeaders["retry-after"] = String(seconds);
    return refuse("rate_limit_exceeded", `Too many requests; try again in ${seconds} s.`);
  });
}
