import type { Traffic } from "../../sockets/sockets.ts";

/** Timeouts of a client connection without a request in flight, in milliseconds. */
export interface IdleLimits {
  /** Timeout for the whole head of a request. */
  readonly headMs: number;
  /** Timeout for the first byte of the next request. */
  readonly idleMs: number;
}

/** Maximum time for the whole head of a request. */
const HEAD_TIMEOUT_MS = 60_000;

/** Returns the limits for this idle timeout. */
export function newIdleLimits(idleMs: number): IdleLimits {
  return { headMs: HEAD_TIMEOUT_MS, idleMs };
}

/** State of a client connection without a request in flight. */
export interface IdleState {
  /** Time of the end of the last response, or of the opening of the connection. */
  readonly sinceMs: number;
  /** True if a request has arrived on the connection. */
  readonly hasServed: boolean;
  /** True for HTTP/2, whose clients send frames between their requests too. */
  readonly isMultiplexed: boolean;
  /** Time at which bytes of the next request were first seen; null if there were none. */
  readonly headSinceMs: number | null;
}

/** Returns the state of a connection that was opened at this time and has received no byte. */
export function newIdleState(sinceMs: number): IdleState {
  return { sinceMs, hasServed: false, isMultiplexed: false, headSinceMs: null };
}

/**
 * Bytes that arrive up to this time after a response may still belong to its request, because the
 * kernel counts in ticks of up to 10 ms. A request head that begins within this time has the idle
 * timeout.
 */
const MAX_SKEW_MS = 20;

/** Returns the time at which bytes of the next request were first seen; null if there are none. */
export function headSince(resting: IdleState, traffic: Traffic, nowMs: number): number | null {
  const { sinceMs, hasServed, isMultiplexed, headSinceMs } = resting;
  if (headSinceMs !== null) return headSinceMs;
  if (!hasServed) return traffic.receivedBytes > 0 ? sinceMs : null;
  const receivedMs = nowMs - traffic.silentMs;
  return !isMultiplexed && receivedMs > sinceMs + MAX_SKEW_MS ? receivedMs : null;
}

/** True if the connection has exceeded its timeout. */
export function isOverdue(
  resting: IdleState,
  nowMs: number,
  { headMs, idleMs }: IdleLimits,
): boolean {
  const { sinceMs, hasServed, headSinceMs } = resting;
  if (headSinceMs !== null) return nowMs - headSinceMs >= headMs;
  return nowMs - sinceMs >= (hasServed ? idleMs : Math.min(headMs, idleMs));
}
