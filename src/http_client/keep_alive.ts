import { findNewDescriptor } from "../runtime/find_sockets.ts";
import { loadSockets, type Sockets } from "../runtime/sockets.ts";

/** Seconds of silence before the first probe of a TCP connection, and between two probes. */
const FIRST_PROBE_S = 30, PROBE_INTERVAL_S = 15;

/** Number of successive probes without a response after which a connection is dead. */
const MAX_PROBES = 4;

/**
 * Returns TCP keep-alive of the connections of one client, for Linux with FFI permission. It does
 * nothing on other systems, where only the silence limit detects a vanished server.
 */
export function newKeepAlive() {
  let sockets: Sockets | null | undefined;

  return {
    /**
     * Enables probes of a silent connection by the kernel, so that a vanished server is noticed.
     * Returns the descriptor of the connection; null if it cannot be found.
     */
    turnOn(connection: Pick<Deno.Conn, "localAddr" | "remoteAddr">): number | null {
      if (sockets === undefined) sockets = loadSockets();
      const descriptor = sockets === null ? null : findNewDescriptor(connection, sockets);
      if (sockets === null || descriptor === null) return null;
      sockets.setNoDelay(descriptor);
      sockets.setKeepAlive(descriptor, FIRST_PROBE_S, PROBE_INTERVAL_S, MAX_PROBES);
      return descriptor;
    },
    /**
     * True if bytes have arrived on the open connection with this descriptor that the runtime has
     * not read.
     */
    hasUnread: (descriptor: number): boolean =>
      sockets != null && sockets.unreadBytes(descriptor) > 0,
    /**
     * Closes the C library, which stays open between connections: opening it takes a millisecond.
     */
    close(): void {
      sockets?.close();
      sockets = null;
    },
  };
}
