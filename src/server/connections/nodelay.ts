import type { Sockets } from "../../sockets/sockets.ts";
import { findListeners } from "../../sockets/find_descriptor.ts";

/**
 * Turns Nagle's algorithm off for the listening sockets at this address; accepted connections inherit
 * it. Without it small records of a stream wait up to 40 ms for the client's acknowledgement.
 */
export function setNoDelay(
  sockets: Pick<Sockets, "bound" | "local" | "isListening" | "setNoDelay">,
  address: Pick<Deno.NetAddr, "hostname" | "port">,
): void {
  for (const descriptor of findListeners(sockets, address)) sockets.setNoDelay(descriptor);
}
