import type { Peer } from "../peer.ts";
import type { IdleState } from "./idle_rules.ts";
import type { WriteState } from "./write_rules.ts";

/**
 * A client connection, with what is the same in the `Peer` of all its requests. Times are on the listener's clock.
 */
export interface Connection extends Omit<Peer, "whenTaken" | "completed"> {
  /** Address of the client as `ADDRESS PORT`. */
  readonly key: string;
  /** The descriptor of its socket; null until a sweep has found it. */
  descriptor: number | null;
  /** Number of the last sweep that has found the connection. */
  sweep: number;
  /** True if a sweep has noticed that its descriptor is closed. */
  isGone: boolean;
  /** Number of requests that have arrived. */
  requests: number;
  /** Number of requests in flight; an open WebSocket counts as a request. */
  inFlight: number;
  /** True if the connection ends once no request is in flight. */
  isEnding: boolean;
  sinceMs: IdleState["sinceMs"];
  hasServed: IdleState["hasServed"];
  isMultiplexed: IdleState["isMultiplexed"];
  headSinceMs: IdleState["headSinceMs"];
  acknowledgedBytes: IdleState["acknowledgedBytes"];
  /** What waits for the client, as of the last sweep. */
  write: WriteState;
  /** Counts the end of a request in flight. */
  readonly ended: () => void;
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
