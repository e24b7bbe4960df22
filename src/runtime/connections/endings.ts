// Until `Deno.serve` can end one connection after its response.

import { type FoundSocket, openDescriptor, type Sockets } from "../sockets.ts";
import type { World } from "../../core/world.ts";
import type { Connection } from "./connection.ts";

/** Interval between two checks of connections that are ending. */
const CHECK_INTERVAL_MS = 20;

/** Maximum time for a client to read its response; after it the connection ends. */
const MAX_DELIVERY_MS = 5_000;

interface Ending {
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
  const endings = new Map<Connection, Ending>();
  let cancel: (() => void) | null = null;

  function add(connection: Connection, waitMs: number, { isForced }: Pick<Ending, "isForced">) {
    if (endings.has(connection) && !isForced) return;
    const at = socketOf(connection, locate);
    const deadlineMs = clock.now() + waitMs;
    endings.set(connection, { at, deadlineMs, isForced, quietLooks: 0 });
    cancel ??= clock.after(CHECK_INTERVAL_MS, look);
  }

  function look() {
    cancel = null;
    for (const [connection, ending] of endings) {
      if (isOver(connection, ending)) endings.delete(connection);
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

  function isOver(connection: Connection, ending: Ending): boolean {
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
    /** Aborts the connection after a short delay, also with requests in flight. */
    soon: (connection: Connection): void => add(connection, CHECK_INTERVAL_MS, { isForced: true }),
    close(): void {
      cancel?.();
      endings.clear();
    },
  };
}
