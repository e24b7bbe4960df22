import type { Cancellation } from "../core/cancellation.ts";
import { cancelled } from "../core/failure/result.ts";
import { type LinkedQueue, newLinkedQueue } from "../traffic/linked_queue.ts";
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

/** Operations of one client. */
interface ClientReads {
  running: number;
  readonly waiting: LinkedQueue<() => void>;
}

/** Returns turns of which none is taken. */
export function newReadTurns(): ReadTurns {
  // Those with an operation, the one whose last turn is the longest time ago first.
  const clients = new Map<string, ClientReads>();
  let running = 0;

  function mayBegin(reads: ClientReads): boolean {
    return running < MAX_CONCURRENT_READS && reads.running < MAX_CLIENT_READS;
  }

  function begin(client: string, reads: ClientReads): void {
    running++;
    reads.running++;
    clients.delete(client);
    clients.set(client, reads);
  }

  function forgetIdle(client: string, { running, waiting }: ClientReads): void {
    if (running === 0 && waiting.size === 0) clients.delete(client);
  }

  /** Resolves with true when the turn has come, and with false if the call is cancelled before. */
  function comesToTurn(
    client: string,
    reads: ClientReads,
    cancellation: Cancellation,
  ): Promise<boolean> {
    if (mayBegin(reads)) {
      begin(client, reads);
      return Promise.resolve(true);
    }
    clients.set(client, reads);
    return new Promise((resolve) => {
      const leave = reads.waiting.push(() => {
        unsubscribe();
        resolve(true);
      });
      const unsubscribe = cancellation.onCancel(() => {
        if (!leave()) return;
        forgetIdle(client, reads);
        resolve(false);
      });
    });
  }

  function end(client: string, reads: ClientReads): void {
    running--;
    reads.running--;
    forgetIdle(client, reads);
    const [first, ...others] = [...clients].filter(([, one]) =>
      one.waiting.size > 0 && mayBegin(one)
    );
    if (first === undefined) return;
    const next = others.reduce(
      (one, other) => other[1].running < one[1].running ? other : one,
      first,
    );
    begin(...next);
    next[1].waiting.shift()?.();
  }

  return async (client, cancellation, start) => {
    const reads = clients.get(client) ?? { running: 0, waiting: newLinkedQueue() };
    if (!await comesToTurn(client, reads, cancellation)) {
      return cancelled(cancellation.reason);
    }
    try {
      return await start();
    } finally {
      const waits = clients.values().some(({ waiting }) => waiting.size > 0);
      // The response with the object that was read is made, and counted, before the next one is
      // read.
      if (waits) setTimeout(end, 0, client, reads);
      else end(client, reads);
    }
  };
}
