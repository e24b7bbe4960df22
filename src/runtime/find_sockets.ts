// Until Deno gives the descriptor of a connection or of a listener.

import type { Sockets } from "./sockets.ts";

/**
 * Descriptors that are checked on each side of the likely number; a check takes less than a
 * microsecond.
 */
const MAX_SEARCHED = 2_048;

/**
 * Returns the descriptor of a connection that was opened recently; null if it is not found. The
 * kernel assigns the lowest free descriptor, so a new descriptor is near the lowest one that is
 * free now. This search takes microseconds; a search through all descriptors takes milliseconds
 * with thousands of connections.
 */
export function findNewDescriptor(
  { localAddr, remoteAddr }: Pick<Deno.Conn, "localAddr" | "remoteAddr">,
  sockets: Pick<Sockets, "lowestFree" | "local" | "remote">,
): number | null {
  if (!("hostname" in localAddr && "hostname" in remoteAddr)) return null;
  const local = `${localAddr.hostname} ${localAddr.port}`;
  const remote = `${remoteAddr.hostname} ${remoteAddr.port}`;
  const isIt = (descriptor: number) =>
    sockets.local(descriptor) === local && sockets.remote(descriptor) === remote;

  const free = sockets.lowestFree();
  if (free === null) return null;
  for (let away = 1; away <= MAX_SEARCHED; away++) {
    if (free - away > 2 && isIt(free - away)) return free - away;
  }
  for (let away = 0; away < MAX_SEARCHED; away++) {
    if (isIt(free + away)) return free + away;
  }
  return null;
}

/** Address of a listening socket. */
type Address = Pick<Deno.NetAddr, "hostname" | "port">;

/**
 * Returns the descriptors of this process that listen at the address; several if they share its
 * port.
 */
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

/**
 * Connections that may wait until the runtime accepts them: the most that Linux permits by default.
 */
const MAX_BACKLOG = 4_096;

/**
 * Sets the options of the listening sockets at this address, which accepted connections inherit.
 * Nagle's algorithm is off: small records of a stream would wait up to 40 ms for the client's
 * acknowledgement. Without `http2` they speak HTTP/1.1 only: the runtime serves HTTP/2 to every
 * client that begins with it, and its frames below requests, such as pings, without any bound.
 * False if the kernel refuses that.
 */
export function setListenerOptions(
  sockets: Pick<
    Sockets,
    "bound" | "local" | "isListening" | "setBacklog" | "setNoDelay" | "dropHttp2"
  >,
  address: Address,
  http2: boolean,
): boolean {
  const listeners = findListeners(sockets, address);
  for (const descriptor of listeners) {
    sockets.setNoDelay(descriptor);
    sockets.setBacklog(descriptor, MAX_BACKLOG);
  }
  return http2 || listeners.length > 0 && listeners.every(sockets.dropHttp2);
}
