import { Cancellation } from "../core/cancellation.ts";
import { ConnectionError } from "../core/failure/connection_error.ts";
import type { Transport } from "../core/transport.ts";
import { newForceShutdown } from "../runtime/force_shutdown.ts";
import { dial } from "./dial.ts";
import { newKeepAlive } from "./keep_alive.ts";
import { newReadBuffer, type ReadBuffer } from "./read_buffer.ts";
import type { Destination } from "./request.ts";

/** Connection to a server that carries one request at a time. */
export interface Connection {
  readonly received: ReadBuffer;
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Returns the connection to the pool after a complete response, for at most `rest` milliseconds.
   */
  release(rest: number): void;
  /** Closes the connection immediately, also during a read or a write. */
  close(): void;
  /** True until this side closes the connection. */
  isOpen(): boolean;
}

/** Pool of idle connections. */
export interface Pool {
  /**
   * True if the server may have closed the next idle connection or sent bytes on it without notice;
   * yield to the event loop to learn it.
   */
  isDoubtful(target: Destination, transport: Transport): boolean;
  /**
   * Removes an idle connection from the pool and returns it. One on which unread bytes have arrived
   * is closed instead: they would be taken for the response to the next request.
   */
  idle(target: Destination, transport: Transport): Connection | null;
  /**
   * Dials a new connection. Rejects with a `ConnectionError` on failure, timeout or cancellation.
   */
  open(target: Destination, transport: Transport, request: Cancellation): Promise<Connection>;
  /** Closes every connection, including those in use and those being dialed. */
  close(): void;
}

/** Clock of the connection timeouts, in milliseconds. */
export interface Clock {
  now(): number;
  /**
   * Runs the task periodically without keeping the process alive. Returns a function that stops it.
   */
  every(ms: number, task: () => void): () => void;
  /** Runs the task once. Returns a function that cancels it. */
  after(ms: number, task: () => void): () => void;
}

/** Limit of idle connections to one origin. */
const MAX_IDLE_CONNECTIONS = 256;

/**
 * Idle time after which a connection may have been closed by the server without notice, while the
 * event loop was busy.
 */
const MIN_STALE_IDLE_MS = 1_000;

/** Interval between checks for idle connections that have timed out. */
const SWEEP_INTERVAL_MS = 5_000;

interface PooledConnection extends Connection {
  /** Number of the socket; null if it is not known, such as on other systems than Linux. */
  readonly descriptor: number | null;
  /** Start of the idle time, and the time at which it ends. */
  since: number;
  until: number;
}

/** Returns an empty connection pool. */
export function newPool(clock: Clock): Pool {
  /** Idle connections by origin, in the order in which they became idle. */
  const idle = new Map<string, PooledConnection[]>();
  const open = new Set<Connection>();
  const dialing = new Set<Cancellation>();
  /** Tasks that wait for their time, and run at the latest when the pool is closed. */
  const atClose = new Set<() => void>();
  const forceShutdown = newForceShutdown();
  const keepAlive = newKeepAlive();
  let isClosed = false;
  let stopSweep: (() => void) | null = null;

  function newPooledConnection(
    key: string,
    connection: Deno.Conn,
    descriptor: number | null,
  ): Connection {
    const received = newReadBuffer(connection);
    let isWriting = false;
    const pooled: PooledConnection = {
      received,
      descriptor,
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
        const idleHere = findOrAddIdle(key);
        if (idleHere.length >= MAX_IDLE_CONNECTIONS) closeOld(idleHere);
        if (idleHere.length >= MAX_IDLE_CONNECTIONS || !open.has(pooled)) return pooled.close();
        pooled.since = clock.now();
        pooled.until = pooled.since + rest;
        idleHere.push(pooled);
        stopSweep ??= clock.every(SWEEP_INTERVAL_MS, sweep);
        received.watch(() => {
          // Bytes may also arrive after the next request has begun: the connection is not idle
          // then.
          const at = idleHere.indexOf(pooled);
          if (at < 0) return;
          idleHere.splice(at, 1);
          pooled.close();
        });
      },
      close() {
        if (!open.delete(pooled)) return;
        if (isWriting) forceShutdown(connection);
        connection.close();
      },
      isOpen: () => open.has(pooled),
    };
    open.add(pooled);
    return pooled;
  }

  /** Runs a task after some milliseconds, or when the pool is closed. */
  function afterOrAtClose(ms: number, task: () => void): () => void {
    if (isClosed) {
      task();
      return () => {};
    }
    const cancel = clock.after(ms, run);
    atClose.add(run);
    return stop;

    function run() {
      stop();
      task();
    }

    function stop() {
      atClose.delete(run);
      cancel();
    }
  }

  function findOrAddIdle(key: string): PooledConnection[] {
    const idleHere = idle.get(key) ?? [];
    if (idleHere.length === 0) idle.set(key, idleHere);
    return idleHere;
  }

  function closeOld(idleHere: PooledConnection[]) {
    const now = clock.now();
    // Connections of one origin can have different idle timeouts.
    for (const pooled of idleHere.filter(({ until }) => until <= now)) {
      idleHere.splice(idleHere.indexOf(pooled), 1);
      pooled.close();
    }
  }

  function sweep() {
    for (const [key, idleHere] of idle) {
      closeOld(idleHere);
      if (idleHere.length === 0) idle.delete(key);
    }
    if (idle.size === 0) stop();
  }

  function stop() {
    stopSweep?.();
    stopSweep = null;
  }

  return {
    isDoubtful(target, transport) {
      const last = idle.get(poolKey(target, transport))?.at(-1);
      return last !== undefined &&
        (last.descriptor === null || last.since + MIN_STALE_IDLE_MS <= clock.now());
    },
    idle(target, transport) {
      const idleHere = idle.get(poolKey(target, transport));
      if (idleHere === undefined) return null;
      closeOld(idleHere);
      for (;;) {
        const last = idleHere.pop();
        if (last === undefined) return null;
        if (last.descriptor === null || !keepAlive.hasUnread(last.descriptor)) return last;
        last.close();
      }
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
        const { tls } = transport;
        const options = { tls, after: afterOrAtClose };
        const connection = await dial(target, cancellation, forceShutdown, options);
        const descriptor = keepAlive.turnOn(connection);
        const pooled = newPooledConnection(poolKey(target, transport), connection, descriptor);
        if (!cancellation.isCancelled) return pooled;
        pooled.close();
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
      for (const run of atClose) run();
      for (const pooled of open) pooled.close();
      keepAlive.close();
      forceShutdown.close();
    },
  };
}

function poolKey({ origin }: Destination, { tls }: Transport): string {
  return tls === null ? origin : `${origin} ${tls.id}`;
}
