import type { OperationCall } from "./messages.ts";
import type { Problem } from "./problems.ts";

/** A call with what its result is passed to. */
export interface PendingCall {
  readonly call: Omit<OperationCall, "parameters">;
  readonly parameters: () => unknown;
  /** Approximate size of the parameters; 0 if they are not made yet. */
  readonly bytes: number;
  /** False if no client waits for the result. */
  readonly isAwaited: boolean;
  readonly resolve: (outcome: Outcome) => void;
}

/** Result of a call: its value, or why it has none. */
export type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: Problem };

/** Bounds of the calls that wait. */
export interface QueueLimits {
  readonly calls: number;
  readonly bytes: number;
}

/** Maximum number of calls in one transaction, and the size above which no other one is added. */
const MAX_BATCH_CALLS = 256;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** Size from which a call is large: its transaction takes as long as those of many small ones. */
const MIN_LARGE_BYTES = 256 * 1024;

/** Calls that wait for the thread of the database, oldest first. */
export interface CallQueue {
  /** Adds a call; returns false, and adds nothing, if there is no room. */
  push(pending: PendingCall): boolean;
  /**
   * Removes the calls of the next transaction: in turn small ones and one large one, so that no
   * small one waits for all of the large ones that another client has sent.
   */
  takeBatch(): readonly PendingCall[];
  /** Removes all calls. */
  takeAll(): readonly PendingCall[];
  size(): number;
  /** True if a client waits for one of the calls. */
  isAwaited(): boolean;
}

/** Returns an empty queue. */
export function newCallQueue(limits: QueueLimits): CallQueue {
  let waiting: PendingCall[] = [];
  let held = 0;
  let wasLarge = true;

  function take(taken: readonly PendingCall[]): readonly PendingCall[] {
    const all = new Set(taken);
    waiting = waiting.filter((one) => !all.has(one));
    for (const { bytes } of taken) held -= bytes;
    return taken;
  }

  return {
    push(pending) {
      // A single call of any size is let through: its size is bounded by the request behind it.
      const isFull = waiting.length > 0 &&
        (waiting.length >= limits.calls || held + pending.bytes > limits.bytes);
      if (isFull) return false;
      waiting.push(pending);
      held += pending.bytes;
      return true;
    },
    takeBatch() {
      const large = waiting.find(isLarge);
      const small = waiting.filter((one) => !isLarge(one));
      wasLarge = large !== undefined && (!wasLarge || small.length === 0);
      if (large !== undefined && wasLarge) return take([large]);
      let count = 0;
      let bytes = 0;
      for (const pending of small) {
        if (count >= MAX_BATCH_CALLS || bytes > MAX_BATCH_BYTES) break;
        bytes += pending.bytes;
        count++;
      }
      return take(small.slice(0, count));
    },
    takeAll: () => take(waiting),
    size: () => waiting.length,
    isAwaited: () => waiting.some(({ isAwaited }) => isAwaited),
  };
}

function isLarge({ bytes }: PendingCall): boolean {
  return bytes >= MIN_LARGE_BYTES;
}
