import type { Sockets } from "../../sockets/sockets.ts";
import type { World } from "../../core/world.ts";
import type { Connection } from "./connection.ts";

/** Ends connections whose last response has been given to the runtime but maybe not yet sent. */
export interface Endings {
  /** Ends the connection once the client has all of the response, and no request is in flight. */
  afterDelivery(connection: Connection): void;
  /** Ends the connection in a moment, whatever is in flight on it. */
  soon(connection: Connection): void;
  close(): void;
}

/** Time between two looks at connections that are ending, in milliseconds. */
const CHECK_INTERVAL_MS = 20;

/** A client that does not take its response is disconnected without it after this time. */
const MAX_DELIVERY_MS = 5_000;

interface Ending {
  readonly deadlineMs: number;
  /** True when requests in flight are cut off. */
  readonly isForced: boolean;
  /** Looks in a row that found nothing to be sent: the runtime may still hold what it has not written. */
  quietLooks: number;
}

/** `locate` asks for the descriptors that are not known yet. */
export function newEndings(
  sockets: Sockets,
  clock: Pick<World, "now" | "after">,
  locate: () => void,
): Endings {
  const endings = new Map<Connection, Ending>();
  let cancel: (() => void) | null = null;

  function add(connection: Connection, ms: number, isForced: boolean) {
    if (endings.has(connection) && !isForced) return;
    endings.set(connection, { deadlineMs: clock.now() + ms, isForced, quietLooks: 0 });
    cancel ??= clock.after(CHECK_INTERVAL_MS, look);
  }

  function look() {
    cancel = null;
    for (const [connection, ending] of endings) {
      if (isOver(connection, ending)) endings.delete(connection);
    }
    if (endings.size > 0) cancel = clock.after(CHECK_INTERVAL_MS, look);
  }

  function isOver(connection: Connection, ending: Ending): boolean {
    const { descriptor, inFlight, isGone, key } = connection;
    if (isGone || (inFlight > 0 && !ending.isForced)) return true;
    // The number may belong to another connection by now.
    if (descriptor === null || sockets.remote(descriptor) !== key) {
      connection.descriptor = null;
      locate();
      return false;
    }
    ending.quietLooks = sockets.traffic(descriptor)?.isDelivered ? ending.quietLooks + 1 : 0;
    const isDelivered = ending.quietLooks > 1 && !ending.isForced;
    if (!isDelivered && clock.now() < ending.deadlineMs) return false;
    if (ending.isForced) sockets.abort(descriptor);
    else sockets.shutDown(descriptor);
    return true;
  }

  return {
    afterDelivery: (connection) => add(connection, MAX_DELIVERY_MS, false),
    soon: (connection) => add(connection, CHECK_INTERVAL_MS, true),
    close() {
      cancel?.();
      endings.clear();
    },
  };
}
