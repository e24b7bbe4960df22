import type { Socket } from "node:net";
import { newConnectionStream } from "./connection_stream.ts";
import type { ForceShutdown } from "../../runtime/force_shutdown.ts";

/** Dependencies of connections. */
export interface DialOptions {
  readonly isEncrypted: boolean;
  /**
   * PEM certificates that the server's certificate is checked with, besides those of the system.
   */
  readonly ca: string | null;
  /** Longest time for connection and handshake together. */
  readonly timeoutMs: number;
  /** Ends a handshake whose server is silent. */
  readonly forceShutdown: ForceShutdown;
}

/** A connection that is being made. */
export interface DialAttempt {
  /** Resolves with the connection; rejects if it cannot be made in time or is aborted. */
  readonly stream: Promise<Socket>;
  abort(): void;
}

/**
 * Makes a connection. The `tls` of Node.js as this runtime has it never ends a connection whose
 * server is silent during the handshake, so that each attempt would cost a file descriptor.
 */
export function dial(
  hostname: string,
  port: number,
  { isEncrypted, ca, timeoutMs, forceShutdown }: DialOptions,
): DialAttempt {
  const aborted = Promise.withResolvers<never>();
  let isAborted = false;
  const timer = setTimeout(abort, timeoutMs);

  function abort(): void {
    isAborted = true;
    aborted.reject(new Error("ETIMEDOUT"));
  }

  async function connect(): Promise<Socket> {
    const cancellation = new AbortController();
    const connecting = Deno.connect({ hostname, port, signal: cancellation.signal });
    let tcp: Deno.TcpConn | null = null;
    let open: Deno.Conn | null = null;
    try {
      tcp = open = await Promise.race([connecting, aborted.promise]);
      tcp.setNoDelay(true);
      if (!isEncrypted) return newConnectionStream(tcp);
      const tls = await Deno.startTls(tcp, { hostname, caCerts: ca === null ? [] : [ca] });
      open = tls;
      await Promise.race([tls.handshake(), aborted.promise]);
      return newConnectionStream(tls);
    } catch (error) {
      cancellation.abort();
      // The connection may have been made at the moment at which it is given up.
      if (tcp === null) connecting.then(closeQuietly, () => {});
      // A handshake that waits for the server continues after its connection is closed.
      if (isAborted && tcp !== null) forceShutdown(tcp);
      closeQuietly(open);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  return { stream: connect(), abort };
}

function closeQuietly(connection: Deno.Conn | null): void {
  try {
    connection?.close();
  } catch {
    // The TCP connection was consumed by a TLS connection that failed.
  }
}
