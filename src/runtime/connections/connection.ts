// Until `Deno.serve` gives the client's connection with each request.

import type { Peer, PeerRequest } from "../peer.ts";
import type { IdleState } from "./idle_rules.ts";
import type { SocketIdentity, Traffic } from "../sockets.ts";
import type { Requested } from "./unfinished_heads.ts";

/**
 * A client connection, with what is the same in the `Peer` of all its requests. Times are on the
 * listener's clock.
 */
export interface Connection extends Omit<Peer, keyof PeerRequest>, IdleState, Requested {
  /** Address of the client as `ADDRESS PORT`. */
  readonly key: string;
  /** The descriptor of its socket; null until a sweep has found it. */
  descriptor: number | null;
  /** The identity of its socket; null until a sweep has found it. */
  socket: SocketIdentity | null;
  /**
   * The states of the other open sockets with the same remote end, whose client has connected to
   * several addresses of this system; null if there are none. The runtime does not say which of
   * them a request is on.
   */
  others: Map<SocketIdentity, SocketState> | null;
  /** Number of the last sweep that has found the connection. */
  sweep: number;
  /** True if a sweep has noticed that its descriptor is closed. */
  isGone: boolean;
  /** Number of requests that have arrived. */
  requests: number;
  /** Number of requests in flight; an open WebSocket counts as a request. */
  inFlight: number;
  /** Number of its WebSockets of which the sockets are known. */
  webSockets: number;
  /** True if its socket is that of an open WebSocket. */
  isWatched: boolean;
  /** True if the connection ends once no request is in flight. */
  isEnding: boolean;
  /** Bytes that were written to its socket, as of the last look without a request in flight. */
  writtenBytes: number;
  /** Time of the end of the last response on any socket with this remote end. */
  endedMs: number;
  /** True if its socket has no filter: its first bytes have passed. */
  acceptsAll: boolean;
  /** Bytes that wait for the client, as of the last sweep. */
  write: WriteState;
  /** Counts the end of a request in flight. */
  readonly ended: () => void;
}

/** The state of the socket of a connection. */
export type SocketState = ReturnType<typeof socketState>;

/** Returns the members of a connection that are of its socket. */
export function socketState(connection: Connection) {
  return {
    descriptor: connection.descriptor,
    sinceMs: connection.sinceMs,
    hasServed: connection.hasServed,
    headSinceMs: connection.headSinceMs,
    acknowledgedBytes: connection.acknowledgedBytes,
    writtenBytes: connection.writtenBytes,
    acceptsAll: connection.acceptsAll,
    isWatched: connection.isWatched,
    write: connection.write,
    countedBytes: connection.countedBytes,
    settledBytes: connection.settledBytes,
    lookedWrittenBytes: connection.lookedWrittenBytes,
    wasAnswered: connection.wasAnswered,
    lookedRequests: connection.lookedRequests,
    unfinished: connection.unfinished,
  };
}

/** Returns the address of a key. */
export function parseKey(key: string): Deno.NetAddr {
  const space = key.lastIndexOf(" ");
  return {
    transport: "tcp",
    hostname: key.slice(0, space),
    port: Number(key.slice(space + 1)),
  };
}

/** Slowest rate at which a client may take what waits for it. */
const MIN_TAKEN_BYTES_PER_S = 1_000;

/** State of a client connection on which written bytes wait. */
export interface WriteState {
  /** Time at which the client last kept the slowest rate; null if nothing waited. */
  readonly behindSinceMs: number | null;
  /** Bytes that the client had acknowledged at that time. */
  readonly behindFromBytes: number;
}

/** The state of a connection on which nothing waits. */
export const NOTHING_WAITS: WriteState = { behindSinceMs: null, behindFromBytes: 0 };

/**
 * Returns the state after a look. A client that has taken the slowest rate since it was behind
 * begins again: one with a small window takes its bytes in bursts.
 */
export function writeStateAt(
  { behindSinceMs, behindFromBytes }: WriteState,
  { unsentBytes, acknowledgedBytes }: Pick<Traffic, "unsentBytes" | "acknowledgedBytes">,
  nowMs: number,
): WriteState {
  if (unsentBytes === 0) return NOTHING_WAITS;
  const restart = { behindSinceMs: nowMs, behindFromBytes: acknowledgedBytes };
  if (behindSinceMs === null || acknowledgedBytes < behindFromBytes) return restart;
  const neededBytes = MIN_TAKEN_BYTES_PER_S * (nowMs - behindSinceMs) / 1_000;
  const takenBytes = acknowledgedBytes - behindFromBytes;
  return takenBytes > 0 && takenBytes >= neededBytes ? restart : { behindSinceMs, behindFromBytes };
}

/** True if the client has been too slow for the whole timeout. */
export function isTooSlow({ behindSinceMs }: WriteState, nowMs: number, writeMs: number): boolean {
  return behindSinceMs !== null && nowMs - behindSinceMs >= writeMs;
}
