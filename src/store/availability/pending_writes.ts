import type { JsonValue } from "../../core/json/json.ts";
import type { Failure } from "../../core/failure/failure.ts";
import type { LossReason, StateOperation } from "../../data/state_operation.ts";
import type { LoopTurns } from "../../traffic/loop_turns.ts";
import { newMemoryRecords } from "../memory/records.ts";
import type { ObjectStore } from "../object_store.ts";
import { newHeldContent } from "../objects/content_codec.ts";
import { newObjects } from "../objects/new_objects.ts";
import type { OutcomeWrite } from "../outcome_store.ts";
import { recordBounds } from "../records/bounds.ts";
import type { RecordId } from "../records/record_store.ts";
import { heldBytes } from "../retention.ts";

/** Bounds of the waiting writes, and where the lost ones are reported. */
export interface PendingOptions {
  now(): number;
  /** The store, whose operations are observed. */
  readonly objects: ObjectStore;
  /** Time in milliseconds after which a write is lost. */
  readonly ttlMs: number;
  readonly maxBytes: number;
  readonly turns: LoopTurns;
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

/**
 * Writes that wait for the store; each may have taken effect there already. Those of one object are
 * made in their order. Until then their effects are in objects of their own in memory.
 */
export interface PendingWrites {
  readonly count: number;
  /** The objects as the waiting writes have made them. They are as many as the writes. */
  readonly waiting: ObjectStore;
  /** Resolves when each waiting write is in `waiting`. */
  inMemory(): Promise<void>;
  /** True if a write of the object waits. */
  has(record: RecordId): boolean;
  /** Adds the last write of an object. False if there is no room. */
  add(record: RecordId, write: OutcomeWrite): boolean;
  /** Replaces the writes of an object that have not begun. */
  replace(record: RecordId, write: OutcomeWrite): void;
  /** Makes the waiting writes of one object. Returns true if none waits any more. */
  flushObject(record: RecordId): Promise<boolean>;
  /**
   * Makes all waiting writes, until one cannot be made. Its object is the last one the next time,
   * so that a write that the store never makes stops no other write.
   */
  flush(): Promise<void>;
  /** Drops the writes whose time is over. */
  dropExpired(): void;
  /** Tries every write once more and drops the rest; later writes are lost. */
  close(): Promise<void>;
}

/** Maximum number of waiting writes. */
const MAX_PENDING_WRITES = 10_000;

const UNBOUNDED = {
  ttlMs: Infinity,
  ownerTtlMs: Infinity,
  maxObjects: Infinity,
  maxBytes: Infinity,
};

interface Waiting extends Pick<OutcomeWrite, "operation" | "run"> {
  readonly bytes: number;
  readonly expires: number;
}

interface Queue {
  readonly record: RecordId;
  writes: Waiting[];
  /** The write in progress, which is the first one. */
  running: Promise<boolean> | null;
}

/** Returns an empty set of waiting writes. */
export function newPendingWrites(options: PendingOptions): PendingWrites {
  const { now, objects, ttlMs, maxBytes, turns } = options;
  const queues = new Map<string, Queue>();
  const bounds = recordBounds(UNBOUNDED);
  const records = newMemoryRecords<JsonValue>(now, bounds);
  const waiting = newObjects(records, newHeldContent(), bounds, UNBOUNDED, turns).objects;
  let inMemory = Promise.resolve();
  let count = 0;
  let bytes = 0;
  let isClosed = false;

  function lose(
    reason: LossReason,
    { operation }: Pick<Waiting, "operation">,
    failure: Failure["kind"] | null = null,
    writes = 1,
  ) {
    options.onLost({ reason, writes, operation, failure });
  }

  function leave(writes: readonly Waiting[]) {
    count -= writes.length;
    for (const write of writes) bytes -= write.bytes;
  }

  function enqueue(record: RecordId, { operation, run }: OutcomeWrite, size: number) {
    const queue = queues.get(keyOf(record)) ?? { record, writes: [], running: null };
    queues.set(keyOf(record), queue);
    queue.writes.push({ operation, run, bytes: size, expires: now() + ttlMs });
    count += 1;
    bytes += size;
    inMemory = inMemory.then(async () => void await run(waiting));
  }

  function shift(queue: Queue) {
    leave(queue.writes.splice(0, 1));
    if (queue.writes.length > 0) return;
    queues.delete(keyOf(queue.record));
    void records.commit([{ id: queue.record, expected: "any", next: null }]);
  }

  /** Makes a write. Returns false if it still waits because the store is unavailable. */
  async function attempt(queue: Queue, write: Waiting): Promise<boolean> {
    await inMemory;
    const isOver = write.expires <= now();
    const written = isOver ? null : await write.run(objects);
    queue.running = null;
    if (written?.ok === false) {
      const { kind } = written.failure;
      if (kind === "state_unavailable") return false;
      lose("refused", write, kind);
    }
    if (isOver) lose("expired", write);
    shift(queue);
    return true;
  }

  async function flushObject(record: RecordId): Promise<boolean> {
    const key = keyOf(record);
    for (let queue = queues.get(key); queue !== undefined; queue = queues.get(key)) {
      const { writes: [write] } = queue;
      if (write === undefined) return true;
      queue.running ??= attempt(queue, write);
      if (!await queue.running) return false;
    }
    return true;
  }

  async function flush(): Promise<void> {
    for (const [key, queue] of [...queues]) {
      if (await flushObject(queue.record)) continue;
      if (queues.delete(key)) queues.set(key, queue);
      return;
    }
  }

  return {
    get count() {
      return count;
    },
    waiting,
    inMemory: () => inMemory,
    has: (record) => queues.has(keyOf(record)),
    add(record, write) {
      const size = heldBytes(record.id) + write.bytes();
      const isFull = count >= MAX_PENDING_WRITES || bytes + size > maxBytes;
      if (isClosed || isFull) lose(isClosed ? "shutdown" : "full", write);
      else enqueue(record, write, size);
      return !isClosed && !isFull;
    },
    replace(record, write) {
      const queue = queues.get(keyOf(record));
      if (queue !== undefined) leave(queue.writes.splice(queue.running === null ? 0 : 1));
      enqueue(record, write, heldBytes(record.id) + write.bytes());
    },
    flushObject,
    flush,
    dropExpired() {
      for (const queue of queues.values()) {
        for (let [write] = queue.writes; write !== undefined; [write] = queue.writes) {
          if (queue.running !== null || write.expires > now()) break;
          lose("expired", write);
          shift(queue);
        }
      }
    },
    async close() {
      await flush();
      isClosed = true;
      const [first] = [...queues.values()].flatMap(({ writes }) => writes);
      if (first === undefined) return;
      lose("shutdown", first, null, count);
      queues.clear();
      count = 0;
      bytes = 0;
    },
  };
}

function keyOf({ type, id }: RecordId): string {
  return `${type} ${id}`;
}
