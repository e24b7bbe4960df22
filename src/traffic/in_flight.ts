import { Cancellation } from "../core/cancellation.ts";
import type { Refusal } from "../core/failure/failure.ts";
import { type Failed, refuse } from "../core/failure/result.ts";

/** Calls in flight and open WebSocket connections. Shutdown waits for them, then cancels them. */
export interface InFlight {
  /** Registers a call and returns its cancellation. */
  start(id: string): Cancellation;
  /** Registers an open WebSocket connection; shutdown waits for it as for a call. */
  startConnection(id: string): Cancellation;
  /** Removes a call whose response has ended, or a closed connection. */
  finish(id: string): void;
  /** True once the gateway is draining: load balancers should route requests elsewhere. */
  readonly isDraining: boolean;
  /** Starts draining; calls are still accepted. */
  drain(): void;
  /**
   * Calls `task` when draining starts, immediately if it has. Returns a function that unsubscribes
   * it.
   */
  onDrain(task: () => void): () => void;
  /** Number of calls in flight and open connections. */
  readonly count: number;
  /** Resolves when no call is in flight and no connection is open. */
  idle(): Promise<void>;
  /**
   * Cancels every call and connection, including later ones, as `draining`. Returns the number of
   * calls in flight.
   */
  cancelAll(): number;
}

/** Returns the refusal of a request that a shutdown ends. */
export function refuseDraining(): Failed<Refusal> {
  return refuse("draining", "The gateway is shutting down; send the request again.");
}

/** Returns a register without calls. */
export function newInFlight(): InFlight {
  const cancellations = new Map<string, Cancellation>();
  const connections = new Set<string>();
  const waiting: (() => void)[] = [];
  const tasks = new Set<() => void>();
  let isDraining = false;
  let isCancelled = false;

  function cancel(cancellation: Cancellation) {
    cancellation.cancel(refuseDraining().failure);
  }

  function start(id: string): Cancellation {
    const cancellation = new Cancellation();
    cancellations.set(id, cancellation);
    if (isCancelled) cancel(cancellation);
    return cancellation;
  }

  return {
    start,
    startConnection(id) {
      connections.add(id);
      return start(id);
    },
    finish(id) {
      cancellations.delete(id);
      connections.delete(id);
      if (cancellations.size > 0) return;
      for (const resolve of waiting.splice(0)) resolve();
    },
    get isDraining() {
      return isDraining;
    },
    drain() {
      isDraining = true;
      for (const task of tasks) task();
      tasks.clear();
    },
    onDrain(task) {
      if (isDraining) {
        task();
        return () => {};
      }
      tasks.add(task);
      return () => void tasks.delete(task);
    },
    get count() {
      return cancellations.size;
    },
    idle() {
      if (cancellations.size === 0) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
    cancelAll() {
      isCancelled = true;
      const calls = cancellations.size - connections.size;
      for (const cancellation of cancellations.values()) cancel(cancellation);
      return calls;
    },
  };
}
