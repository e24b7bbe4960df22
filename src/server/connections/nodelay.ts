import type { Sockets } from "../../sockets/sockets.ts";

/**
 * Turns Nagle's algorithm off for every listening socket of this process; accepted connections
 * inherit it. Without it small records of a stream wait up to 40 ms for the client's acknowledgement.
 */
export function setNoDelay(sockets: Pick<Sockets, "bound" | "setNoDelay">): void {
  // Descriptors that are no sockets return an error, which is ignored.
  const bound = sockets.bound();
  for (let descriptor = 0; descriptor < bound; descriptor++) sockets.setNoDelay(descriptor);
}
