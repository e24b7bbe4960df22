import { Buffer } from "node:buffer";
import { Socket } from "node:net";
import type { ForceShutdown } from "../../http_client/force_shutdown.ts";

const READ_BYTES = 64 * 1024;

/** What TLS connections are made with. */
export interface TlsOptions {
  /** PEM certificates that the server's certificate is checked with, besides those of the system. */
  readonly ca: string | null;
  /** Longest time for connection and handshake together. */
  readonly timeoutMs: number;
  /** Ends a handshake whose server is silent. */
  readonly forceShutdown: ForceShutdown;
}

/** A TLS connection that is being made. */
export interface TlsAttempt {
  /** Resolves with the connection; rejects if it cannot be made in time or is aborted. */
  readonly stream: Promise<Socket>;
  abort(): void;
}

/**
 * Makes a TLS connection. The `tls` of Node.js as this runtime has it never ends a connection whose
 * server is silent during the handshake, so that each attempt would cost a file descriptor.
 */
export function connectTls(
  hostname: string,
  port: number,
  { ca, timeoutMs, forceShutdown }: TlsOptions,
): TlsAttempt {
  const aborted = Promise.withResolvers<never>();
  let isAborted = false;
  const timer = setTimeout(abort, timeoutMs);

  function abort(): void {
    isAborted = true;
    aborted.reject(new Error("ETIMEDOUT"));
  }

  async function connect(): Promise<Socket> {
    const cancellation = new AbortController();
    let tcp: Deno.TcpConn | null = null;
    let open: Deno.Conn | null = null;
    try {
      const connecting = Deno.connect({ hostname, port, signal: cancellation.signal });
      tcp = open = await Promise.race([connecting, aborted.promise]);
      tcp.setNoDelay(true);
      const tls = await Deno.startTls(tcp, { hostname, caCerts: ca === null ? [] : [ca] });
      open = tls;
      await Promise.race([tls.handshake(), aborted.promise]);
      return new TlsStream(tls);
    } catch (error) {
      cancellation.abort();
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

/** A TLS connection as a stream of the kind that the library expects. */
class TlsStream extends Socket {
  readonly #connection: Deno.TlsConn;

  constructor(connection: Deno.TlsConn) {
    super();
    this.#connection = connection;
  }

  override _read(): void {
    const buffer = Buffer.alloc(READ_BYTES);
    this.#connection.read(buffer).then(
      (count) => void (count === null ? this.destroy() : this.push(buffer.subarray(0, count))),
      (error) => void this.destroy(error),
    );
  }

  override _write(
    chunk: string | Uint8Array,
    _encoding: string,
    callback: (error?: Error | null) => void,
  ): void {
    this.#writeAll(bytesOf(chunk)).then(() => callback(), callback);
  }

  override _writev(
    chunks: { chunk: string | Uint8Array }[],
    callback: (error?: Error | null) => void,
  ): void {
    const bytes = Buffer.concat(chunks.map(({ chunk }) => bytesOf(chunk)));
    this.#writeAll(bytes).then(() => callback(), callback);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#connection.close();
    // Also emits the event `close`.
    super._destroy(error, (failure) => callback(failure ?? null));
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      at += await this.#connection.write(bytes.subarray(at));
    }
  }
}

function bytesOf(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}
