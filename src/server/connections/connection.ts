import type { Peer } from "../peer.ts";
import type { Resting } from "./idle_rules.ts";

/** A client connection; `Peer` of all its requests. Times are those of the listener's clock. */
export interface Connection extends Peer {
  /** The client's end as `ADDRESS PORT`. */
  readonly key: string;
  /** The descriptor of its socket; null until a sweep has found it. */
  descriptor: number | null;
  /** The last sweep that has seen it. */
  sweep: number;
  /** True when its descriptor was closed, as far as sweeps have noticed. */
  isGone: boolean;
  /** Requests that are being answered, and the WebSocket that it has become. */
  inFlight: number;
  /** True when it is to be ended once no request is in flight. */
  isEnding: boolean;
  sinceMs: Resting["sinceMs"];
  hasServed: Resting["hasServed"];
  isMultiplexed: Resting["isMultiplexed"];
  headSinceMs: Resting["headSinceMs"];
  acknowledgedBytes: Resting["acknowledgedBytes"];
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
