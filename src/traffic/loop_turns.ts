import type { World } from "../core/world.ts";
import { type LinkedQueue, newLinkedQueue } from "./linked_queue.ts";

/**
 * Work that has turns: `start` is the beginning of a call or of a response body, which short calls
 * consist of; `rest` is a further piece of a large body, or of the work on many items; `message` is
 * the parse or the request of a large WebSocket message, in one piece that takes milliseconds for
 * each MiB.
 */
export type TurnKind = "start" | "rest" | "message";

/**
 * Time since the beginning of a turn of the event loop in which such work may begin, in
 * milliseconds. The work of short calls goes on for longer: it is behind the large bodies
 * otherwise.
 */
const MAX_MS_PER_TURN: Readonly<Record<TurnKind, number>> = { start: 8, rest: 4, message: 4 };

/** Work of each kind that begins in every turn, however long the turn has taken already. */
const MIN_PER_TURN: Readonly<Record<TurnKind, number>> = { start: 2, rest: 2, message: 1 };

/** The kinds in the order in which they go on. */
const KINDS: readonly TurnKind[] = ["start", "rest", "message"];

/**
 * Calls in flight below which none waits to begin: so few cannot keep the event loop for long.
 * Measured: turns for 16 calls cost small ones a tenth of their rate.
 */
const MIN_CALLS = 64;

/**
 * Bounds the time for which calls and large response bodies keep the event loop from other work.
 * Without it all sockets with bytes are read and translated before a new connection is accepted:
 * the runtime looks for connections only when nothing else is left to do, or after 61 rounds.
 */
export interface LoopTurns {
  /**
   * Null if the work may be done now; else a promise of its turn, in order of arrival within its
   * kind.
   */
  next(kind: TurnKind): Promise<void> | null;
}

/** Returns the turns of a gateway in which `calls` returns the number of calls in flight. */
export function newLoopTurns(
  world: Pick<World, "now" | "after">,
  calls: () => number,
): LoopTurns {
  const queues: Readonly<Record<TurnKind, LinkedQueue<() => void>>> = {
    start: newLinkedQueue(),
    rest: newLinkedQueue(),
    message: newLinkedQueue(),
  };
  let began = 0;
  let isOpen = false;

  function open() {
    isOpen = true;
    began = world.now();
    // The second timer is set after the work of the turn. One that is set before would be due by
    // then, and the runtime looks for connections only if it has to wait.
    world.after(0, () => world.after(0, end));
  }

  function end() {
    isOpen = false;
    if (KINDS.every((kind) => queues[kind].size === 0)) return;
    open();
    for (const kind of KINDS) pass(kind, MIN_PER_TURN[kind]);
  }

  /** Begins this much work of a kind, and more of it as long as the turn has time. */
  function pass(kind: TurnKind, min: number) {
    for (let count = 0; count < min; count++) queues[kind].shift()?.();
    // The work that has begun takes its time before this goes on.
    if (queues[kind].size > 0) queueMicrotask(() => hasTime(kind) && pass(kind, 1));
  }

  function hasTime(kind: TurnKind): boolean {
    return isOpen && world.now() - began < MAX_MS_PER_TURN[kind];
  }

  return {
    next(kind) {
      if (kind === "start" && calls() < MIN_CALLS) return null;
      if (!isOpen) open();
      const queue = queues[kind];
      if (queue.size === 0 && hasTime(kind)) return null;
      return new Promise<void>((go) => void queue.push(go));
    },
  };
}

/** Turns in which all work may be done at once: nothing else waits. */
export const NO_TURNS: LoopTurns = { next: () => null };

/** Number of items from which the work on them is divided among turns. */
const MANY_ITEMS = 500;

/**
 * Returns a promise of the turn of the next piece of work on this many items; null if it may be
 * done now, as always if they are few.
 */
export function turnAmong(turns: LoopTurns, items: number): Promise<void> | null {
  return items < MANY_ITEMS ? null : turns.next("rest");
}
