import { sendReset } from "./tcp_reset.ts";

/** A connection of which every failure only means that it is over. */
export interface Line {
  /** The next bytes; null when the other side sends no more or is gone. */
  read(): Promise<Uint8Array | null>;
  /** False when the other side is gone. */
  write(bytes: Uint8Array): Promise<boolean>;
  /** Sends no more. */
  halfClose(): Promise<void>;
  close(): void;
  /** Closes with a TCP reset. */
  reset(): void;
  /** This side has closed the connection. */
  readonly isClosed: boolean;
  /** Resolves when nothing is being read or written any more. */
  quiet(): Promise<void>;
}

/** Wraps a connection; the caller closes the line. */
export function openLine(connection: Deno.TcpConn | Deno.TlsConn): Line {
  const running = new Set<Promise<unknown>>();
  let isClosed = false;

  async function attempt<T>(work: Promise<T>): Promise<T | null> {
    running.add(work);
    try {
      return await work;
    } catch {
      return null;
    } finally {
      running.delete(work);
    }
  }

  async function writeAll(bytes: Uint8Array): Promise<boolean> {
    for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
    return true;
  }

  function close() {
    if (isClosed) return;
    isClosed = true;
    connection.close();
  }

  return {
    async read() {
      const buffer = new Uint8Array(64 * 1024);
      const count = await attempt(connection.read(buffer));
      return count === null ? null : buffer.subarray(0, count);
    },
    write: async (bytes) => await attempt(writeAll(bytes)) ?? false,
    halfClose: async () => void await attempt(connection.closeWrite()),
    close,
    reset() {
      if (!isClosed) sendReset(connection);
      close();
    },
    get isClosed() {
      return isClosed;
    },
    quiet: async () => void await Promise.allSettled(running),
  };
}
