import type { Cancellation } from "../core/cancellation.ts";
import { cancelled } from "../core/failure/result.ts";
import { newFairQueue } from "../traffic/fair_queue.ts";
import type { Stored } from "./object_store.ts";

/**
 * Number of operations that bring whole objects out of a store at the same time. More would not be
 * faster: the objects are decoded one after the other.
 */
export const MAX_CONCURRENT_READS = 4;

/** Number of them that one client has at most, so that another one finds a turn. */
export const MAX_CLIENT_READS = MAX_CONCURRENT_READS - 1;

/**
 * Runs an operation that brings a whole object of a store into memory when fewer than
 * `MAX_CONCURRENT_READS` are running: how large an object is, is known when it is there. Next is
 * the oldest one of the client of which the fewest are running, so that no client waits for all
 * that another one has requested. A cancelled call leaves the queue.
 */
export type ReadTurns = <Value>(
  client: string,
  cancellation: Cancellation,
  start: () => Stored<Value>,
) => Stored<Value>;

/** Returns turns of which none is taken. */
export function newReadTurns(): ReadTurns {
  const runningOf = new Map<string, number>();
  let running = 0;
  const waiting = newFairQueue(rankOf);

  /** Returns the number of operations of a client that run; null if it may begin no other one. */
  function rankOf(client: string): number | null {
    const own = runningOf.get(client) ?? 0;
    return own < MAX_CLIENT_READS ? own : null;
  }

  function change(client: string, by: 1 | -1): void {
    running += by;
    const own = (runningOf.get(client) ?? 0) + by;
    if (own > 0) runningOf.set(client, own);
    else runningOf.delete(client);
  }

  /** Resolves with true when the turn has come, and with false if the call is cancelled before. */
  function comesToTurn(client: string, cancellation: Cancellation): Promise<boolean> {
    if (running < MAX_CONCURRENT_READS && rankOf(client) !== null) {
      change(client, 1);
      return Promise.resolve(true);
    }
    return new Promise((resolve) => waiting.push({ client, cancellation }, resolve));
  }

  function end(client: string): void {
    change(client, -1);
    const next = waiting.shift();
    if (next !== null) change(next, 1);
  }

  return async (client, cancellation, start) => {
    if (!await comesToTurn(client, cancellation)) return cancelled(cancellation.reason);
    try {
      return await start();
    } finally {
      // The response with the object that was read is made, and counted, before the next one is
      // read.
      if (waiting.size > 0) setTimeout(end, 0, client);
      else end(client);
    }
  };
}
