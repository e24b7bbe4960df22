import type { Sockets } from "./sockets.ts";

/** Address of a listening socket. */
type Address = Pick<Deno.NetAddr, "hostname" | "port">;

/** Returns the descriptors of this process that listen at the address; several if they share its port. */
export function findListeners(
  sockets: Pick<Sockets, "bound" | "local" | "isListening">,
  address: Address,
): number[] {
  const found: number[] = [];
  const bound = sockets.bound();
  for (let descriptor = 0; descriptor < bound; descriptor++) {
    if (isListenerAt(sockets, descriptor, address)) found.push(descriptor);
  }
  return found;
}

/** True if the descriptor is a socket that listens at the address. */
export function isListenerAt(
  sockets: Pick<Sockets, "local" | "isListening">,
  descriptor: number,
  { hostname, port }: Address,
): boolean {
  return sockets.isListening(descriptor) && sockets.local(descriptor) === `${hostname} ${port}`;
}
