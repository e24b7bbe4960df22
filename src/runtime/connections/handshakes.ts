// Until `Deno.upgradeWebSocket` gives the socket of the connection.

import { openDescriptor, type SocketIdentity, type Sockets } from "../sockets.ts";
import type { Connection, SocketState } from "./connection.ts";

/** Least size of the response to a handshake: with its key, and the headers that it must have. */
const MIN_ANSWER_BYTES = 100;

/**
 * Sockets with one remote end of which the one of a handshake is looked for; with more it is not
 * found. Each look is at all of them.
 */
const MAX_SHARED_SOCKETS = 16;

/** An open socket, and what has passed on it. */
export interface OpenSocket {
  readonly descriptor: number;
  readonly socket: SocketIdentity | null;
  /** Bytes that were written to the client. */
  readonly writtenBytes: number;
  /** Bytes that the runtime has read. */
  readonly readBytes: number;
}

/** The state of a connection before the handshake of a WebSocket on it is answered. */
export interface Handshake {
  /** Number of requests that have arrived, the handshake included. */
  readonly requests: number;
  /** True if no other request is in flight, whose response may be written meanwhile. */
  readonly isOnly: boolean;
  /** The open sockets that are known. */
  readonly known: ReadonlyMap<SocketIdentity | null, OpenSocket>;
}

/** A handshake before which nothing is known of its connection. */
export function unknownHandshake({ requests }: Connection): Handshake {
  return { requests, isOnly: true, known: new Map() };
}

/** True if a connection shares its remote end with too many sockets to find that of a handshake. */
export function hasManySockets({ others }: Pick<Connection, "others">): boolean {
  return others !== null && others.size >= MAX_SHARED_SOCKETS;
}

/** Returns the state of a socket of a connection; null if it has closed. */
export function stateOf(
  connection: Connection,
  socket: SocketIdentity | null,
): SocketState | null {
  if (connection.socket === socket) return connection;
  return socket === null ? null : connection.others?.get(socket) ?? null;
}

/** Returns the search for the socket of a handshake, among those with its remote end. */
export function newHandshakes(
  sockets: Pick<Sockets, "identity" | "traffic" | "unreadBytes">,
) {
  /** Returns the open sockets of a connection that are no WebSockets. */
  function openSockets({ socket, others, ...state }: Connection): OpenSocket[] {
    if (hasManySockets({ others })) return [];
    const states: [SocketIdentity | null, SocketState][] = [[socket, state], ...others ?? []];
    return states.flatMap(([socket, { descriptor: last, isWatched }]) => {
      const descriptor = openDescriptor(sockets, { descriptor: last, socket });
      const traffic = descriptor === null || isWatched ? null : sockets.traffic(descriptor);
      if (descriptor === null || traffic === null) return [];
      const { receivedBytes, writtenBytes } = traffic;
      const readBytes = receivedBytes - sockets.unreadBytes(descriptor);
      return [{ descriptor, socket, writtenBytes, readBytes }];
    });
  }

  return {
    /** Returns the state of a connection whose handshake is in flight. */
    begin(connection: Connection): Handshake {
      return {
        requests: connection.requests,
        isOnly: connection.inFlight === 1,
        known: new Map(openSockets(connection).map((open) => [open.socket, open])),
      };
    },
    /**
     * Returns the socket on which the handshake was answered: the only one to which as much was
     * written since. Null if that may be another response, or if there may be sockets that are not
     * known. After a search of all (`isSearched`) the socket may also be the only one that is open:
     * some kernels do not count at once what is written.
     */
    find(
      connection: Connection,
      { requests, isOnly, known }: Handshake,
      isSearched: boolean,
    ): OpenSocket | null {
      if (!isSearched && !(isOnly && connection.requests === requests)) return null;
      const open = openSockets(connection);
      const [found, ...further] = open.filter(({ socket, writtenBytes }) =>
        writtenBytes - (known.get(socket)?.writtenBytes ?? 0) >= MIN_ANSWER_BYTES
      );
      if (found !== undefined) return further.length === 0 ? found : null;
      return isSearched && open.length === 1 ? open[0] ?? null : null;
    },
  };
}
