import type { Failed } from "../../core/result.ts";
import { refuse } from "../../core/result.ts";
import type { Call } from "../../call/call.ts";
import type { ClientKey } from "../../call/generation.ts";

/** What calls from the dashboard are named by. */
export const REMOTE_CONTROL = "remote control";

/**
 * Takes a token from the bucket of the caller's key, else of its address; null when there was one,
 * or when nobody is held to a rate. `X-RateLimit-Limit` is the requests per minute, `-Remaining` what
 * may be asked at once. Refused as `rate_limit_exceeded`, with the seconds to wait.
 */
export function takeToken(call: Call, key: ClientKey | null, network: () => string): Failed | null {
  if (key === null) return takeAddressToken(call, network);
  const { enabled, requests_per_minute } = call.generation.config.rate_limiting;
  if (!enabled) return null;
  return takeFrom(call, key.caller, key.requestsPerMinute ?? requests_per_minute);
}

/** As `takeToken`, for a caller without a valid key: its address has the bucket. */
export function takeAddressToken(call: Call, network: () => string): Failed | null {
  const { enabled, requests_per_minute } = call.generation.config.rate_limiting;
  return enabled ? takeFrom(call, `address ${network()}`, requests_per_minute) : null;
}

/** As `takeToken`, for calls from the dashboard, which have one bucket. */
export function takeRemoteToken(call: Call): Failed | null {
  const { enabled, requests_per_minute } = call.generation.config.rate_limiting;
  return enabled ? takeFrom(call, REMOTE_CONTROL, requests_per_minute) : null;
}

function takeFrom(call: Call, bucket: string, requests_per_minute: number): Failed | null {
  const { generation: { config }, state, answerHeaders } = call;
  const { burst_size } = config.rate_limiting;
  const settings = { requests_per_minute, burst_size };
  const { isTaken, remaining, waitMs } = state.buckets.take(bucket, settings);
  setRateHeaders(answerHeaders, requests_per_minute, remaining);
  if (isTaken) return null;
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  answerHeaders["retry-after"] = String(seconds);
  return refuse("rate_limit_exceeded", `Too many requests; try again in ${seconds} s.`);
}

function setRateHeaders(
  answerHeaders: Call["answerHeaders"],
  limit: number,
  remaining: number,
): void {
  answerHeaders["x-ratelimit-limit"] = String(limit);
  answerHeaders["x-ratelimit-remaining"] = String(remaining);
}
