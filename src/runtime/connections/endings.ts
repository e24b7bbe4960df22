// Until `Deno.serve` can end one connection after its response.

import { type FoundSocket, openDescriptor, type Sockets } from "../sockets.ts";
import type { World } from "../../core/world.ts";
import type { Connection } from "./connection.ts";

/** Interval between two checks of connections that are ending. */
const CHECK_INTERVAL_MS = 20;

/** Maximum time for a client to read its response; after it the connection ends. */
const MAX_DELIVERY_MS = 5_000;

interface Ending {
  readonly connection: Connection;
  /** The socket; its client may come back from the same port with another one. */
  at: FoundSocket;
  readonly deadlineMs: number;
  /** True if requests in flight are aborted. */
  readonly isForced: boolean;
  /**
   * Number of consecutive checks without unsent bytes: the runtime may still hold bytes that it has
   * not written.
   */
  quietLooks: number;
}

/**
 * Returns a register that ends connections whose last response was passed to the runtime but may
 * not have been sent yet. It calls `locate` when the descriptor of a connection is not known yet,
 * which may find it, and `sweepSoon` as long as it was not found.
 */
export function newEndings(
  sockets: Sockets,
  clock: Pick<World, "now" | "after">,
  { locate, sweepSoon }: {
    locate(connection: Connection): void;
    sweepSoon(): void;
  },
) {
  /** The endings of connections, and those of single sockets with a shared remote end. */
  const endings = new Map<Connection | FoundSocket, Ending>();
  let cancel: (() => void) | null = null;

  function add(
    connection: Connection,
    waitMs: number,
    { isForced, socket }: Pick<Ending, "isForced"> & { readonly socket?: FoundSocket | undefined },
  ) {
    if (endings.has(connection) && !isForced) return;
    const at = socket ?? socketOf(connection, locate);
    const deadlineMs = clock.now() + waitMs;
    endings.set(socket ?? connection, { connection, at, deadlineMs, isForced, quietLooks: 0 });
    cancel ??= clock.after(CHECK_INTERVAL_MS, look);
  }

  function look() {
    cancel = null;
    for (const [ended, ending] of endings) {
      if (isOver(ending)) endings.delete(ended);
    }
    if (endings.size > 0) cancel = clock.after(CHECK_INTERVAL_MS, look);
  }

  /** Returns the socket of a connection; `find` is called if it is not known. */
  function socketOf(connection: Connection, find: (connection: Connection) => void): FoundSocket {
    connection.descriptor = openDescriptor(sockets, connection);
    if (connection.descriptor === null) find(connection);
    const { descriptor, socket } = connection;
    return { descriptor, socket };
  }

  function isOver(ending: Ending): boolean {
    const { connection } = ending;
    const { inFlight, isGone } = connection;
    if (ending.at.descriptor === null) ending.at = socketOf(connection, sweepSoon);
    const descriptor = openDescriptor(sockets, ending.at);
    const isClosed = isGone || ending.at.descriptor !== null && descriptor === null;
    // Requests from the same port are on another connection now.
    if (isClosed) connection.isEnding = false;
    if (isClosed || (inFlight > 0 && !ending.isForced)) return true;
    if (descriptor === null) return false;
    ending.quietLooks = sockets.traffic(descriptor)?.isDelivered ? ending.quietLooks + 1 : 0;
    const isDelivered = ending.quietLooks > 1 && !ending.isForced;
    if (!isDelivered && clock.now() < ending.deadlineMs) return false;
    if (ending.isForced) sockets.abort(descriptor);
    else sockets.shutDown(descriptor);
    connection.isEnding = false;
    return true;
  }

  return {
    /**
     * Ends the connection once the client has the whole response, unless another request is in
     * flight.
     */
    afterDelivery: (connection: Connection): void =>
      add(connection, MAX_DELIVERY_MS, { isForced: false }),
    /**
     * Aborts the connection after a short delay, also with requests in flight. Which of several
     * sockets with its remote end it is must be known: it would end that of another client.
     */
    soon(connection: Connection, socket?: FoundSocket): void {
      if (socket === undefined && connection.others !== null) return;
      add(connection, CHECK_INTERVAL_MS, { isForced: true, socket });
    },
    close(): void {
      cancel?.();
      endings.clear();
    },
  };
}
