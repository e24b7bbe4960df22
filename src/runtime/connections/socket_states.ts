// Until `Deno.serve` gives the socket of a connection.

import type { World } from "../../core/world.ts";
import { openDescriptor, type SocketIdentity, type Sockets } from "../sockets.ts";
import { type Connection, NOTHING_WAITS, type SocketState, socketState } from "./connection.ts";
import { newIdleState } from "./idle_rules.ts";
import type { UnfinishedHeads } from "./unfinished_heads.ts";

/**
 * Returns the states of the sockets of connections. A connection is known by its remote end, and
 * may have several sockets: its client comes back from the same port, or connects from it to
 * several addresses of this system.
 */
export function newSocketStates(
  sockets: Pick<Sockets, "identity" | "traffic">,
  { now }: Pick<World, "now">,
  heads: Pick<UnfinishedHeads, "begin">,
) {
  /**
   * Keeps the state of the socket of a connection, if that is open, while the connection has that
   * of `next`. Returns the latter; null if it is not known.
   */
  function keepOther(connection: Connection, next: SocketIdentity | null): SocketState | null {
    const others = connection.others ?? new Map();
    const known = next === null ? undefined : others.get(next);
    if (next !== null) others.delete(next);
    if (connection.socket !== null && openDescriptor(sockets, connection) !== null) {
      others.set(connection.socket, socketState(connection));
    }
    connection.others = others.size === 0 ? null : others;
    return known ?? null;
  }

  return {
    /**
     * Begins or continues the state of a socket, which the connection has from now on. Requests
     * that have arrived belong to it if it is the first; of a further one it is not known which
     * requests were on it.
     */
    setSocket(connection: Connection, descriptor: number, socket: SocketIdentity | null): void {
      const isOther = connection.socket !== null && connection.socket !== socket;
      const known = isOther ? keepOther(connection, socket) : null;
      if (known !== null) Object.assign(connection, known);
      else if (isOther || connection.requests === 0) {
        const traffic = sockets.traffic(descriptor);
        const writtenBytes = traffic?.writtenBytes ?? 0;
        const sinceMs = now() - (traffic?.silentMs ?? 0);
        const { isMultiplexed } = connection;
        Object.assign(connection, newIdleState(sinceMs, isOther && writtenBytes > 0));
        // Only the last request shows whether the one that stays open speaks HTTP/2.
        if (connection.others !== null) connection.isMultiplexed = isMultiplexed;
        connection.writtenBytes = writtenBytes;
      }
      if (isOther && known === null) {
        heads.begin(connection);
        connection.acceptsAll = false;
        connection.isWatched = false;
        connection.write = NOTHING_WAITS;
      }
      if (isOther) connection.isEnding = false;
      connection.descriptor = descriptor;
      connection.socket = socket;
    },
    /** Forgets the other sockets of a connection that have closed. */
    forgetClosed(connection: Connection): void {
      const { others } = connection;
      if (others === null) return;
      for (const [socket, { descriptor }] of others) {
        if (openDescriptor(sockets, { descriptor, socket }) === null) others.delete(socket);
      }
      if (others.size === 0) connection.others = null;
    },
  };
}
