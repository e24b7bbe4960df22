import { type LinkedQueue, newLinkedQueue } from "./linked_queue.ts";

/** Limits of concurrent attempts at one provider. */
export interface SlotLimits {
  readonly maxConcurrent: number;
  readonly maxQueued: number;
  readonly queueTimeoutMs: number;
}

/** Identity of a provider: its ID in the configuration and the digest of its upstream. */
export interface SlotOwner {
  readonly id: string;
  readonly upstream: string;
}

/** Permission for one attempt to run at a provider. The holder must release it. */
export interface Slot {
  /** Releases the slot; only the first call counts. */
  release(): void;
}

/**
 * Result of entering a provider: a slot, a place in its queue, or neither because the queue is
 * full.
 */
export type SlotEntry =
  | { readonly kind: "granted"; readonly slot: Slot }
  | {
    readonly kind: "queued";
    /** Resolves with the slot; with null after `queueTimeoutMs` or `leave`. */
    readonly slot: Promise<Slot | null>;
    /** Leaves the queue. Without effect once the slot is granted. */
    leave(): void;
  }
  | { readonly kind: "full" };

/** Counts of one provider: attempts with a slot, and queued calls. */
export interface SlotCounts {
  readonly running: number;
  readonly queued: number;
}

/** Slots of every provider with a limit. */
export interface ProviderSlots {
  /** False while no provider has had a limit, so that no slot is needed. */
  readonly isInUse: boolean;
  /** Applies the limits of the current configuration, with null for a provider without a limit. */
  configure(limits: Iterable<readonly [SlotOwner, SlotLimits | null]>): void;
  /** True if `enter` would grant a slot. */
  isFree(owner: SlotOwner): boolean;
  /** True if `enter` would grant a slot or a place in the queue. */
  hasRoom(owner: SlotOwner): boolean;
  enter(owner: SlotOwner): SlotEntry;
  counts(owner: SlotOwner): SlotCounts;
}

const UNLIMITED: SlotEntry = { kind: "granted", slot: { release() {} } };
const FULL: SlotEntry = { kind: "full" };
const NONE: SlotCounts = { running: 0, queued: 0 };

/** Starts a timer of this many milliseconds; returns a function that stops it. */
type After = (ms: number, run: () => void) => () => void;

/**
 * Returns slots without limits. Slots of one provider are granted in the order of `enter`; a
 * released slot goes to the oldest queued call, never to a later call.
 *
 * A change of the limits applies to later calls of `enter`: running attempts keep their slots and
 * count, and queued calls keep their places and timeouts. A higher limit admits calls from the
 * queue. A provider that was removed from the configuration keeps its limits for the calls that
 * still use it.
 */
export function newProviderSlots(after: After): ProviderSlots {
  const pools = new Map<string, Pool>();
  const findPool = (owner: SlotOwner) => pools.size === 0 ? undefined : pools.get(keyOf(owner));

  return {
    get isInUse() {
      return pools.size > 0;
    },
    configure(limits) {
      const current = new Set<string>();
      for (const [owner, one] of limits) {
        const key = keyOf(owner);
        const pool = pools.get(key);
        if (one !== null) current.add(key);
        if (pool !== undefined) pool.configure(one);
        else if (one !== null) pools.set(key, newPool(one, after));
      }
      for (const [key, pool] of pools) if (pool.retire(!current.has(key))) pools.delete(key);
    },
    isFree: (owner) => findPool(owner)?.isFree() ?? true,
    hasRoom: (owner) => findPool(owner)?.hasRoom() ?? true,
    enter: (owner) => findPool(owner)?.enter() ?? UNLIMITED,
    counts: (owner) => findPool(owner)?.counts() ?? NONE,
  };
}

function keyOf({ id, upstream }: SlotOwner): string {
  return `${id} ${upstream}`;
}

interface Pool {
  /** Null lifts the limit. */
  configure(limits: SlotLimits | null): void;
  /**
   * Records whether the current configuration lacks this limit. Returns true if the previous
   * configuration lacked it too and the pool is empty: calls of an older configuration need the
   * pool for one more reload.
   */
  retire(isRetired: boolean): boolean;
  isFree(): boolean;
  hasRoom(): boolean;
  enter(): SlotEntry;
  counts(): SlotCounts;
}

function newPool(first: SlotLimits, after: After): Pool {
  let limits: SlotLimits | null = first;
  let running = 0;
  let wasRetired = false;
  const queue: LinkedQueue<(slot: Slot) => void> = newLinkedQueue();

  const isFree = () => limits === null || running < limits.maxConcurrent;
  const hasRoom = () => isFree() || queue.size < (limits?.maxQueued ?? 0);

  function newSlot(): Slot {
    let isHeld = true;
    running++;
    return {
      release() {
        if (!isHeld) return;
        isHeld = false;
        running--;
        admit();
      },
    };
  }

  /** Grants free slots to queued calls, so that no call waits while a slot is free. */
  function admit(): void {
    while (queue.size > 0 && isFree()) queue.shift()?.(newSlot());
  }

  function wait(timeoutMs: number): SlotEntry {
    const { promise, resolve } = Promise.withResolvers<Slot | null>();
    const remove = queue.push((slot) => {
      cancel();
      resolve(slot);
    });
    const cancel = after(timeoutMs, leave);
    return { kind: "queued", slot: promise, leave };

    function leave() {
      if (!remove()) return;
      cancel();
      resolve(null);
    }
  }

  return {
    configure(next) {
      limits = next;
      admit();
    },
    retire(isRetired) {
      const isOver = wasRetired && isRetired && running === 0 && queue.size === 0;
      wasRetired = isRetired;
      return isOver;
    },
    isFree,
    hasRoom,
    enter() {
      if (limits === null || isFree()) return { kind: "granted", slot: newSlot() };
      return hasRoom() ? wait(limits.queueTimeoutMs) : FULL;
    },
    counts: () => ({ running, queued: queue.size }),
  };
}
