import type { Traffic } from "../../sockets/sockets.ts";

/** How long a client connection without a request in flight may stay open, in milliseconds. */
export interface RestLimits {
  /** Until a whole request head has arrived. */
  readonly headMs: number;
  /** Until the first byte of the next request arrives. */
  readonly idleMs: number;
}

/** A whole request head must have arrived after this time. */
const HEAD_TIMEOUT_MS = 60_000;

/** Returns the limits of a gateway with this idle timeout. */
export function restLimits(idleMs: number): RestLimits {
  return { headMs: HEAD_TIMEOUT_MS, idleMs };
}

/** A client connection without a request in flight. */
export interface Resting {
  /** Since when: the end of the last response, or the opening of the connection. */
  readonly sinceMs: number;
  /** True when a request has arrived on it. */
  readonly hasServed: boolean;
  /** True for HTTP/2, whose clients also send when they make no request. */
  readonly isMultiplexed: boolean;
  /** When bytes of the next request were first noticed; null when there were none. */
  readonly headSinceMs: number | null;
  /** Bytes that the client had acknowledged at the last look. */
  readonly acknowledgedBytes: number;
}

/** Returns the rest of a connection that was opened then and has sent nothing. */
export function newRest(sinceMs: number): Resting {
  return {
    sinceMs,
    hasServed: false,
    isMultiplexed: false,
    headSinceMs: null,
    acknowledgedBytes: 0,
  };
}

/**
 * Bytes that arrive this many milliseconds after a response may still belong to its request, because
 * the kernel counts in ticks of up to 10 ms. A head that begins as early has the idle timeout.
 */
const MAX_SKEW_MS = 20;

/** Returns when bytes of the next request were first noticed; null while there are none. */
export function headSince(resting: Resting, traffic: Traffic, nowMs: number): number | null {
  const { sinceMs, hasServed, isMultiplexed, headSinceMs } = resting;
  if (headSinceMs !== null) return headSinceMs;
  if (!hasServed) return traffic.receivedBytes > 0 ? sinceMs : null;
  const receivedMs = nowMs - traffic.silentMs;
  return !isMultiplexed && receivedMs > sinceMs + MAX_SKEW_MS ? receivedMs : null;
}

/**
 * True when the client has taken some of a response since the last look, and more of it waits. The
 * runtime counts a request as completed once it holds the whole response, long before a slow client does.
 */
export function isTaking({ acknowledgedBytes }: Resting, traffic: Traffic): boolean {
  return traffic.unsentBytes > 0 && traffic.acknowledgedBytes > acknowledgedBytes;
}

/** True when the connection has rested for longer than it may. */
export function isOverdue(
  resting: Resting,
  nowMs: number,
  { headMs, idleMs }: RestLimits,
): boolean {
  const { sinceMs, hasServed, headSinceMs } = resting;
  if (headSinceMs !== null) return nowMs - headSinceMs >= headMs;
  return nowMs - sinceMs >= (hasServed ? idleMs : Math.min(headMs, idleMs));
}
