import type { Cancellation } from "../core/cancellation.ts";
import { cancelled } from "../core/failure/result.ts";
import { newLinkedQueue } from "../traffic/linked_queue.ts";
import type { Stored } from "./object_store.ts";

/**
 * Number of operations that bring whole objects out of a store at the same time. More would not be
 * faster: the objects are decoded one after the other.
 */
export const MAX_CONCURRENT_READS = 4;

/**
 * Runs an operation that brings a whole object of a store into memory when fewer than
 * `MAX_CONCURRENT_READS` are running, in the order of the calls: how large an object is, is known
 * when it is there. A cancelled call leaves the queue.
 */
export type ReadTurns = <Value>(
  cancellation: Cancellation,
  start: () => Stored<Value>,
) => Stored<Value>;

/** Returns turns of which none is taken. */
export function newReadTurns(): ReadTurns {
  const queue = newLinkedQueue<() => void>();
  let running = 0;

  /** Resolves with true when the turn has come, and with false if the call is cancelled before. */
  function comesToTurn(cancellation: Cancellation): Promise<boolean> {
    if (running < MAX_CONCURRENT_READS) {
      running++;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const leave = queue.push(() => {
        unsubscribe();
        resolve(true);
      });
      const unsubscribe = cancellation.onCancel(() => {
        if (leave()) resolve(false);
      });
    });
  }

  function end() {
    if (queue.size === 0) running--;
    // The response with the object that was read is made, and counted, before the next one is read.
    else setTimeout(passOn, 0);
  }

  function passOn() {
    const next = queue.shift();
    if (next === undefined) running--;
    else next();
  }

  return async (cancellation, start) => {
    if (!await comesToTurn(cancellation)) {
      return cancelled(cancellation.reason);
    }
    try {
      return await start();
    } finally {
      end();
    }
  };
}
