// Until `Deno.serve` has timeouts for idle and slow clients.

import type { Traffic } from "../sockets.ts";

/** Timeouts of a client connection, in milliseconds. */
export interface IdleLimits {
  /** Timeout for the whole head of a request. */
  readonly headMs: number;
  /** Timeout for the first byte of the next request. */
  readonly idleMs: number;
  /** Timeout for a client that takes its responses too slowly. */
  readonly writeMs: number;
}

/** Maximum time for the whole head of a request. */
const HEAD_TIMEOUT_MS = 60_000;

/** Returns the limits for these timeouts, in milliseconds, of the section `server`. */
export function newIdleLimits(
  { idle_timeout, write_timeout }: {
    readonly idle_timeout: number;
    readonly write_timeout: number;
  },
): IdleLimits {
  return { headMs: HEAD_TIMEOUT_MS, idleMs: idle_timeout, writeMs: write_timeout };
}

/** State of a client connection without a request in flight. */
export interface IdleState {
  /** Time of the end of the last response, or of the opening of the connection. */
  sinceMs: number;
  /** True if a request has arrived on the connection. */
  hasServed: boolean;
  /** True for HTTP/2, whose clients send frames between their requests too. */
  isMultiplexed: boolean;
  /** Time at which bytes of the next request first arrived; null if there were none. */
  headSinceMs: number | null;
  /** Bytes that the client had acknowledged at the last look. */
  acknowledgedBytes: number;
}

/**
 * Returns the state of a connection that was opened at this time, or has served its last request
 * then.
 */
export function newIdleState(sinceMs: number, hasServed = false): IdleState {
  return {
    sinceMs,
    hasServed,
    isMultiplexed: false,
    headSinceMs: null,
    acknowledgedBytes: 0,
  };
}

/**
 * Bytes that arrive up to this time after a response may still belong to its request, because the
 * kernel counts in ticks of up to 10 ms. A request head that begins within this time has the idle
 * timeout.
 */
const MAX_SKEW_MS = 20;

/** Returns the time at which bytes of the next request first arrived. */
export function headSince(resting: IdleState, traffic: Traffic, nowMs: number): number | null {
  const { sinceMs, hasServed, isMultiplexed, headSinceMs } = resting;
  if (headSinceMs !== null) return headSinceMs;
  if (!hasServed) return traffic.receivedBytes > 0 ? sinceMs : null;
  const receivedMs = nowMs - traffic.silentMs;
  return !isMultiplexed && receivedMs > sinceMs + MAX_SKEW_MS ? receivedMs : null;
}

/**
 * True when the client has taken some of a response since the last look, and more of it waits. The
 * runtime counts a request as completed once it holds the whole response, long before a slow client
 * does.
 */
export function isTaking({ acknowledgedBytes }: IdleState, traffic: Traffic): boolean {
  return traffic.unsentBytes > 0 && traffic.acknowledgedBytes > acknowledgedBytes;
}

/** True if the connection has exceeded its timeout. */
export function isOverdue(
  resting: IdleState,
  nowMs: number,
  { headMs, idleMs }: Pick<IdleLimits, "headMs" | "idleMs">,
): boolean {
  const { sinceMs, hasServed, headSinceMs } = resting;
  if (headSinceMs !== null) return nowMs - headSinceMs >= headMs;
  return nowMs - sinceMs >= (hasServed ? idleMs : Math.min(headMs, idleMs));
}
