import type { Traffic } from "../../sockets/sockets.ts";

/** How long a client connection without a request in flight may stay open, in milliseconds. */
export interface IdleLimits {
  /** Until a whole request head has arrived. */
  readonly headMs: number;
  /** Until the first byte of the next request arrives. */
  readonly idleMs: number;
}

/** A whole request head must have arrived after this time. */
const HEAD_TIMEOUT_MS = 60_000;

/** Returns the limits of a gateway with this idle timeout. */
export function newIdleLimits(idleMs: number): IdleLimits {
  return { headMs: HEAD_TIMEOUT_MS, idleMs };
}

/** A client connection without a request in flight. */
export interface IdleState {
  /** Since when: the end of the last response, or the opening of the connection. */
  readonly sinceMs: number;
  /** True when a request has arrived on it. */
  readonly hasServed: boolean;
  /** True for HTTP/2, whose clients also send when they make no request. */
  readonly isMultiplexed: boolean;
  /** When bytes of the next request were first noticed; null when there were none. */
  readonly headSinceMs: number | null;
}

/** Returns the rest of a connection that was opened then and has sent nothing. */
export function newIdleState(sinceMs: number): IdleState {
  return { sinceMs, hasServed: false, isMultiplexed: false, headSinceMs: null };
}

/**
 * Bytes that arrive this many milliseconds after a response may still belong to its request, because
 * the kernel counts in ticks of up to 10 ms. A head that begins as early has the idle timeout.
 */
const MAX_SKEW_MS = 20;

/** Returns when bytes of the next request were first noticed; null while there are none. */
export function headSince(resting: IdleState, traffic: Traffic, nowMs: number): number | null {
  const { sinceMs, hasServed, isMultiplexed, headSinceMs } = resting;
  if (headSinceMs !== null) return headSinceMs;
  if (!hasServed) return traffic.receivedBytes > 0 ? sinceMs : null;
  const receivedMs = nowMs - traffic.silentMs;
  return !isMultiplexed && receivedMs > sinceMs + MAX_SKEW_MS ? receivedMs : null;
}

/** True when the connection has rested for longer than it may. */
export function isOverdue(
  resting: IdleState,
  nowMs: number,
  { headMs, idleMs }: IdleLimits,
): boolean {
  const { sinceMs, hasServed, headSinceMs } = resting;
  if (headSinceMs !== null) return nowMs - headSinceMs >= headMs;
  return nowMs - sinceMs >= (hasServed ? idleMs : Math.min(headMs, idleMs));
}
