import { findNewDescriptor } from "../sockets/find_descriptor.ts";
import { loadSockets, type Sockets } from "../sockets/sockets.ts";

/** Seconds of silence before the first probe of a TCP connection, and between two probes. */
const FIRST_PROBE_S = 30, PROBE_INTERVAL_S = 15;

/** A connection is dead when this many probes in a row had no answer. */
const MAX_PROBES = 4;

/** TCP keep-alive of the connections of one client. */
export interface KeepAlive {
  /** Has the system probe this connection while it is silent, so that a vanished server is noticed. */
  turnOn(connection: Pick<Deno.Conn, "localAddr" | "remoteAddr">): void;
  /** Closes the C library, which stays open between connections: opening it takes a millisecond. */
  close(): void;
}

/**
 * Returns a TCP keep-alive that works on Linux where FFI is allowed, and does nothing elsewhere: there a
 * vanished server is noticed by the silence limit alone.
 */
export function newKeepAlive(): KeepAlive {
  let sockets: Sockets | null | undefined;

  return {
    turnOn(connection) {
      if (sockets === undefined) sockets = loadSockets();
      const descriptor = sockets === null ? null : findNewDescriptor(connection, sockets);
      if (sockets === null || descriptor === null) return;
      sockets.setNoDelay(descriptor);
      sockets.setKeepAlive(descriptor, FIRST_PROBE_S, PROBE_INTERVAL_S, MAX_PROBES);
    },
    close() {
      sockets?.close();
      sockets = null;
    },
  };
}
