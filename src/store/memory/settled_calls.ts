import { newLinkedQueue } from "../../traffic/linked_queue.ts";

/** IDs of the calls whose use was counted. */
export interface SettledCalls {
  /** Stores the ID of a call; returns false if it is stored already. */
  add(call: string): boolean;
  /** Number of stored IDs. */
  readonly size: number;
}

/** Time for which a settled call is remembered, so that its use counts once. */
export const SETTLED_TTL_MS = 10 * 60 * 1000;

/** Maximum number of remembered calls; the oldest is forgotten first. */
const MAX_SETTLED_CALLS = 100_000;

/** Returns no settled calls. `now` returns milliseconds that never go back. */
export function newSettledCalls(now: () => number): SettledCalls {
  const calls = new Set<string>();
  /** The calls by their age. */
  const queue = newLinkedQueue<{ readonly call: string; readonly endsAt: number }>();

  return {
    add(call) {
      const time = now();
      for (let oldest = queue.first; oldest !== undefined; oldest = queue.first) {
        if (oldest.endsAt > time && queue.size < MAX_SETTLED_CALLS) break;
        queue.shift();
        calls.delete(oldest.call);
      }
      if (calls.has(call)) return false;
      calls.add(call);
      queue.push({ call, endsAt: time + SETTLED_TTL_MS });
      return true;
    },
    get size() {
      return queue.size;
    },
  };
}
