import type { Cancellation } from "../core/cancellation.ts";
import { type LinkedQueue, newLinkedQueue } from "./linked_queue.ts";

/** Work that waits for its turn. */
export interface Waiter {
  /** Client that it is for: its key, or its network without one; "" for work of no client. */
  readonly client: string;
  /** Cancellation with which it leaves the queue; null if it waits in any case. */
  readonly cancellation: Cancellation | null;
  /** True if it goes before other work of its client. */
  readonly isFirst?: boolean;
}

/**
 * Work that waits for turns, in one queue for each client. Turns go round among the clients, so
 * that none waits for all that another one has sent. A client is forgotten with its last work.
 */
export interface FairQueue {
  readonly size: number;
  /** Calls `end` with true when the turn has come, and with false if it is cancelled before. */
  push(waiter: Waiter, end: (hasTurn: boolean) => void): void;
  /** Gives the next turn, and returns the client that has it; null if nothing may have one. */
  shift(): string | null;
}

/** The work of one client that waits. */
interface Line {
  readonly client: string;
  readonly first: LinkedQueue<() => void>;
  readonly others: LinkedQueue<() => void>;
  /** Takes the line out of the round. */
  leave: () => boolean;
}

/**
 * Returns an empty queue. The next client is the one of the lowest rank whose last turn is the
 * longest time ago; one whose rank is null has none. The search ends at a rank of 0.
 */
export function newFairQueue(rankOf: (client: string) => number | null = () => 0): FairQueue {
  const lines = new Map<string, Line>();
  const round = newLinkedQueue<Line>();
  let size = 0;

  function lineOf(client: string): Line {
    const known = lines.get(client);
    if (known !== undefined) return known;
    const line: Line = {
      client,
      first: newLinkedQueue(),
      others: newLinkedQueue(),
      leave: () => false,
    };
    lines.set(client, line);
    line.leave = round.push(line);
    return line;
  }

  function removed(line: Line): void {
    size--;
    if (line.first.size > 0 || line.others.size > 0) return;
    line.leave();
    lines.delete(line.client);
  }

  function nextLine(): Line | null {
    let next: Line | null = null;
    let lowest = Infinity;
    for (const line of round.values()) {
      const rank = rankOf(line.client);
      if (rank === null || rank >= lowest) continue;
      next = line;
      lowest = rank;
      if (rank === 0) break;
    }
    return next;
  }

  return {
    get size() {
      return size;
    },
    push({ client, cancellation, isFirst = false }, end) {
      if (cancellation?.isCancelled === true) return end(false);
      const line = lineOf(client);
      const remove = (isFirst ? line.first : line.others).push(() => {
        unsubscribe?.();
        end(true);
      });
      size++;
      const unsubscribe = cancellation?.onCancel(() => {
        remove();
        removed(line);
        end(false);
      });
    },
    shift() {
      const line = nextLine();
      if (line === null) return null;
      line.leave();
      line.leave = round.push(line);
      const go = line.first.shift() ?? line.others.shift();
      removed(line);
      go?.();
      return line.client;
    },
  };
}
