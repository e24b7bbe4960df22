import { Cancellation } from "../core/cancellation.ts";
import { ConnectionError } from "../core/connection_error.ts";
import type { Transport } from "../core/transport.ts";
import { newForceShutdown } from "./force_shutdown.ts";
import { dial } from "./dial.ts";
import { newKeepAlive } from "./keep_alive.ts";
import { newReadBuffer, type ReadBuffer } from "./read_buffer.ts";
import type { Destination } from "./request.ts";

/** A connection to an upstream, for one exchange at a time. */
export interface Connection {
  readonly received: ReadBuffer;
  write(bytes: Uint8Array): Promise<void>;
  /** The exchange is over and nothing of it is left: for so many milliseconds another may have the connection. */
  release(rest: number): void;
  /** Ends the connection at once, whatever it is doing. */
  close(): void;
  /** This side has not closed it. */
  isOpen(): boolean;
}

/** Connections that are kept open between exchanges. */
export interface Pool {
  /** Whether the next idle one has been idle for long: what came of it is known after a turn of the loop. */
  isLongIdle(target: Destination, transport: Transport): boolean;
  /** One that is idle, and open as far as is known; null when there is none. */
  idle(target: Destination, transport: Transport): Connection | null;
  /** Dials a new connection; rejects with a `ConnectionError` when it fails, is late or given up. */
  open(target: Destination, transport: Transport, request: Cancellation): Promise<Connection>;
  /** Closes every connection, also those in use and those that do not stand yet. */
  close(): void;
}

/** The time by which connections are measured, in milliseconds. */
export interface Clock {
  now(): number;
  /** Runs the task again and again, without keeping the process alive; the result ends it. */
  every(ms: number, task: () => void): () => void;
  /** Runs the task once; the result cancels. */
  after(ms: number, task: () => void): () => void;
}

/** Most idle connections to one origin. */
const MAX_IDLE_CONNECTIONS = 256;

/** What was idle for so many milliseconds may have been closed unnoticed, while other work was done. */
const LONG_IDLE_MS = 1_000;

/** Idle connections are looked at this often, in milliseconds. */
const SWEEP_INTERVAL_MS = 5_000;

interface PooledConnection extends Connection {
  /** Since when it is idle, and until when it may be. */
  since: number;
  until: number;
}

/** A pool without connections. */
export function newPool(clock: Clock): Pool {
  /** By origin, in the order in which they became idle. */
  const idle = new Map<string, PooledConnection[]>();
  const open = new Set<Connection>();
  const dialing = new Set<Cancellation>();
  const cutOff = newForceShutdown();
  const keepAlive = newKeepAlive();
  let isClosed = false;
  let stopSweep: (() => void) | null = null;

  function newLine(key: string, connection: Deno.Conn): Connection {
    const received = newReadBuffer(connection);
    let isWriting = false;
    const line: PooledConnection = {
      received,
      since: 0,
      until: 0,
      async write(bytes) {
        isWriting = true;
        try {
          for (let sent = 0; sent < bytes.length;) {
            sent += await connection.write(sent === 0 ? bytes : bytes.subarray(sent));
          }
        } finally {
          isWriting = false;
        }
      },
      release(rest) {
        const kept = keptOf(key);
        closeOld(kept);
        if (kept.length >= MAX_IDLE_CONNECTIONS || !open.has(line)) return line.close();
        line.since = clock.now();
        line.until = line.since + rest;
        kept.push(line);
        stopSweep ??= clock.every(SWEEP_INTERVAL_MS, sweep);
        received.watch(() => {
          // Also what comes after the next exchange has begun ends here: then it is not idle.
          const at = kept.indexOf(line);
          if (at < 0) return;
          kept.splice(at, 1);
          line.close();
        });
      },
      close() {
        if (!open.delete(line)) return;
        if (isWriting) cutOff(connection);
        connection.close();
      },
      isOpen: () => open.has(line),
    };
    open.add(line);
    return line;
  }

  function keptOf(key: string): PooledConnection[] {
    const kept = idle.get(key) ?? [];
    if (kept.length === 0) idle.set(key, kept);
    return kept;
  }

  function closeOld(kept: PooledConnection[]) {
    const now = clock.now();
    // They do not all rest for the same time.
    for (const line of kept.filter(({ until }) => until <= now)) {
      kept.splice(kept.indexOf(line), 1);
      line.close();
    }
  }

  function sweep() {
    for (const [key, kept] of idle) {
      closeOld(kept);
      if (kept.length === 0) idle.delete(key);
    }
    if (idle.size === 0) stop();
  }

  function stop() {
    stopSweep?.();
    stopSweep = null;
  }

  return {
    isLongIdle(target, transport) {
      const since = idle.get(poolKey(target, transport))?.at(-1)?.since;
      return since !== undefined && since + LONG_IDLE_MS <= clock.now();
    },
    idle(target, transport) {
      const kept = idle.get(poolKey(target, transport));
      if (kept === undefined) return null;
      closeOld(kept);
      return kept.pop() ?? null;
    },
    async open(target, transport, request) {
      if (isClosed) throw new ConnectionError("aborted", "the client is closed");
      const cancellation = new Cancellation();
      const unsubscribe = request.onCancel((reason) => cancellation.cancel(reason));
      dialing.add(cancellation);
      let isLate = false;
      const cancelTimeout = clock.after(transport.connectTimeoutMs, () => {
        isLate = true;
        cancellation.cancel(null);
      });
      try {
        const connection = await dial(target, cancellation, cutOff, transport);
        keepAlive.turnOn(connection);
        const line = newLine(poolKey(target, transport), connection);
        if (!cancellation.isCancelled) return line;
        line.close();
        throw new ConnectionError("aborted", "the connection was given up");
      } catch (error) {
        throw isLate
          ? new ConnectionError("timeout", "the connection was not made in time")
          : error;
      } finally {
        cancelTimeout();
        unsubscribe();
        dialing.delete(cancellation);
      }
    },
    close() {
      isClosed = true;
      stop();
      idle.clear();
      for (const cancellation of dialing) cancellation.cancel(null);
      for (const line of open) line.close();
      keepAlive.close();
      cutOff.close();
    },
  };
}

function poolKey({ origin }: Destination, { tls }: Transport): string {
  return tls === null ? origin : `${origin} ${tls.id}`;
}
