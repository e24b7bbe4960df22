import type { Failure } from "../../core/failure.ts";
import type { LossReason, StateOperation } from "../../core/state_operation.ts";
import type { ObjectStore, Stored } from "../object_store.ts";
import type { PendingView } from "./pending_view.ts";

/**
 * A write that waits until the store answers. It may have taken effect already, and is repeatable.
 */
export interface PendingWrite {
  readonly operation: StateOperation;
  /** Approximate size in memory. */
  readonly bytes: number;
  run(objects: ObjectStore): Stored<unknown>;
}

/** Bounds of the waiting writes, and where the lost ones are reported. */
export interface PendingOptions {
  now(): number;
  /** The store, whose operations are observed. */
  readonly objects: ObjectStore;
  /** Time in milliseconds after which a write is lost. */
  readonly ttlMs: number;
  readonly maxBytes: number;
  onLost(loss: Loss): void;
}

/** Writes that are lost, for one reason. */
export interface Loss {
  readonly reason: LossReason;
  readonly writes: number;
  /**
   * Operation of the first write, and the failure with which the store has refused it; null for
   * none.
   */
  readonly operation: StateOperation;
  readonly failure: Failure["kind"] | null;
}

/** Writes that wait for the store. Those of one object are made in their order. */
export interface PendingWrites {
  readonly count: number;
  /** True if a write of the object waits. */
  has(key: string): boolean;
  /** Returns what reads of the object find; undefined if the store must be queried. */
  view(key: string): PendingView | undefined;
  views(): Iterable<PendingView>;
  /**
   * Adds the last write of an object. `view` is what reads find from now on. False if there is no
   * room.
   */
  add(key: string, write: PendingWrite, view?: PendingView): boolean;
  /** Replaces the writes of an object that have not begun. */
  replace(key: string, write: PendingWrite, view: PendingView): void;
  /** Makes the waiting writes of one object. Returns true if none waits any more. */
  flushObject(key: string): Promise<boolean>;
  /** Makes the oldest waiting write. Returns false if the store is unavailable. */
  flushFirst(): Promise<boolean>;
  /** Makes all waiting writes, as long as the store answers. */
  flush(): Promise<void>;
  /** Drops the writes whose time is over. */
  dropExpired(): void;
  /** Tries every write once more and drops the rest; later writes are lost. */
  close(): Promise<void>;
}

/** Maximum number of waiting writes. */
const MAX_PENDING_WRITES = 10_000;

interface Waiting extends PendingWrite {
  readonly expires: number;
}

interface Queue {
  writes: Waiting[];
  view: PendingView | undefined;
  /** The write in progress, which is the first one; null if there is none. */
  running: Promise<Progress> | null;
}

/** Result of one write: made or lost, or still waiting because the store is unavailable. */
type Progress = "over" | "away";

/** Returns an empty set of waiting writes. */
export function newPendingWrites(options: PendingOptions): PendingWrites {
  const { now, objects, ttlMs, maxBytes } = options;
  // In the order of their first writes, which is nearly the order in which they expire.
  const queues = new Map<string, Queue>();
  let count = 0;
  let bytes = 0;
  let isClosed = false;

  function lose(reason: LossReason, { operation }: PendingWrite, failure: Failure["kind"] | null) {
    options.onLost({ reason, writes: 1, operation, failure });
  }

  function leave(writes: readonly Waiting[]) {
    count -= writes.length;
    for (const write of writes) bytes -= write.bytes;
  }

  function enqueue(key: string, write: PendingWrite, view: PendingView | undefined) {
    const queue = queues.get(key) ?? { writes: [], view: undefined, running: null };
    queues.set(key, queue);
    queue.writes.push({ ...write, expires: now() + ttlMs });
    queue.view = view;
    count += 1;
    bytes += write.bytes;
  }

  function shift(key: string, queue: Queue) {
    leave(queue.writes.splice(0, 1));
    if (queue.writes.length === 0) queues.delete(key);
  }

  async function attempt(key: string, queue: Queue, write: Waiting): Promise<Progress> {
    if (write.expires <= now()) lose("expired", write, null);
    else {
      const written = await write.run(objects);
      if (!written.ok && written.failure.kind === "state_unavailable") return "away";
      if (!written.ok) lose("refused", write, written.failure.kind);
    }
    shift(key, queue);
    return "over";
  }

  /** Makes the first write of an object; waits for the one in progress. */
  async function step(key: string, queue: Queue): Promise<Progress> {
    const [write] = queue.writes;
    if (write === undefined) return "over";
    queue.running ??= attempt(key, queue, write).finally(() => {
      queue.running = null;
    });
    return await queue.running;
  }

  async function flushObject(key: string): Promise<boolean> {
    for (let queue = queues.get(key); queue !== undefined; queue = queues.get(key)) {
      if (await step(key, queue) === "away") return false;
    }
    return true;
  }

  async function flush(): Promise<void> {
    for (const key of [...queues.keys()]) {
      if (!await flushObject(key)) return;
    }
  }

  return {
    get count() {
      return count;
    },
    has: (key) => queues.has(key),
    view: (key) => queues.get(key)?.view,
    *views() {
      for (const { view } of queues.values()) if (view !== undefined) yield view;
    },
    add(key, write, view) {
      const isFull = count >= MAX_PENDING_WRITES || bytes + write.bytes > maxBytes;
      if (isClosed || isFull) {
        lose(isClosed ? "shutdown" : "full", write, null);
        return false;
      }
      enqueue(key, write, view);
      return true;
    },
    replace(key, write, view) {
      const queue = queues.get(key);
      if (queue !== undefined) leave(queue.writes.splice(queue.running === null ? 0 : 1));
      enqueue(key, write, view);
    },
    flushObject,
    async flushFirst() {
      for (const [key, queue] of queues) return await step(key, queue) === "over";
      return true;
    },
    flush,
    dropExpired() {
      for (const [key, queue] of queues) {
        for (let [write] = queue.writes; write !== undefined; [write] = queue.writes) {
          if (queue.running !== null || write.expires > now()) return;
          lose("expired", write, null);
          shift(key, queue);
        }
      }
    },
    async close() {
      await flush();
      isClosed = true;
      const [first] = [...queues.values()].flatMap(({ writes }) => writes);
      if (first === undefined) return;
      options.onLost({
        reason: "shutdown",
        writes: count,
        operation: first.operation,
        failure: null,
      });
      queues.clear();
      count = 0;
      bytes = 0;
    },
  };
}
