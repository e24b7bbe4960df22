import type { World } from "../core/world.ts";
import type { Cancellation } from "../core/cancellation.ts";
import { type FairQueue, newFairQueue, type Waiter } from "./fair_queue.ts";

/**
 * Work that has turns: `start` is the beginning of a call, of its body or of a response body, of
 * which short calls consist; `rest` is a further piece of a large body, or of the work on many
 * items; `large` is a step of the work on a large JSON text, such as its parse, in one piece that
 * takes milliseconds for each MiB; `entering` is the first such step of a call; `tiny` is a number
 * of reads of a body in tiny chunks, which take as long.
 */
export type TurnKind = "start" | "rest" | "large" | "entering" | "tiny";

/**
 * Time since the beginning of a turn of the event loop in which such work may begin, in
 * milliseconds. The work of short calls takes longer: it is behind the large bodies
 * otherwise.
 */
const MAX_MS_PER_TURN = { start: 8, rest: 4 } as const;

/**
 * The same while many calls arrive. The runtime hands over about 10 calls in a turn, in order of
 * arrival: of several hundred the last one, which may ask for `/health`, waits for dozens of turns.
 * Measured: short turns all the time cost small calls over 256 connections a fifth of their rate.
 */
const MAX_MS_PER_CROWDED_TURN = { start: 2, rest: 2 } as const;

/**
 * Work that begins in such a turn, besides `MIN_PER_TURN`. The time does not bound reads of bodies
 * in chunks: the runtime gives a chunk only after all of them have begun. Measured: 1,600 bodies in
 * chunks of 2 kB that were left in each second kept others waiting for 2.2 s.
 */
const MAX_PER_CROWDED_TURN = 16;

/**
 * Calls by which those in flight grow in one turn while many arrive, with those for which there is
 * no place.
 */
const MIN_GROWTH = 8;

/** Work of each kind that begins in every turn, however long the turn has taken already. */
const MIN_PER_TURN = 2;

/** The kinds that share turns, in the order in which they go on. */
const KINDS = ["start", "rest"] as const;

type SharedKind = typeof KINDS[number];

/**
 * Pause after a large piece, as a part of the time that it took, and its longest time in
 * milliseconds. In a long pause a small call is served from its head to its response, so that many
 * large pieces delay it by one of them.
 */
const PAUSE_RATIO = 0.25, MAX_PAUSE_MS = 25;

/**
 * Lateness of the end of a pause from which it is repeated, in milliseconds: other work had the
 * event loop. Measured: collections of the garbage of pieces took up to 40 ms, and the next piece
 * began before the runtime had looked at a socket.
 */
const MAX_LATE_MS = 8;

/**
 * Large pieces that wait below which no pause is long because calls arrive: so few do not delay
 * others for long. Measured: long pauses cost four clients with bodies of 300 kB a fifth of their
 * rate while 192 clients sent small calls, of which eight arrive in most turns. While as many as 32
 * had to wait, 240 clients that sent bodies of 261 kB at once delayed others by up to 0.3 s.
 */
const MIN_WAITING = 8;

/** Time since the first of several large pieces in which further ones begin, in milliseconds. */
const FREE_MS = 4;

/**
 * Calls in flight below which none waits to begin, and no pause is long because more arrive: so few
 * cannot keep the event loop for long.
 * Measured: turns for 16 calls cost small ones a tenth of their rate.
 */
export const MIN_CALLS = 64;

/**
 * Bounds the time for which calls and large response bodies keep the event loop from other work.
 * Without it all sockets with bytes are read and translated before a new connection is accepted:
 * the runtime looks for connections only when nothing else is left to do, or after 61 rounds.
 */
export interface LoopTurns {
  /**
   * Null if the work may be done now; else a promise of its turn, which goes round among the
   * clients, and is in order of arrival among the work of one client of its kind. The promise of
   * cancelled work resolves at once: work with a `cancellation` ends then. `client` returns the
   * client of work that waits.
   */
  next(
    kind: TurnKind,
    cancellation?: Cancellation | null,
    client?: () => string,
  ): Promise<void> | null;
}

/**
 * Returns the turns of a gateway in which `calls` returns the number of calls in flight, and
 * `refused` that of those so far that found no place.
 */
export function newLoopTurns(
  world: Pick<World, "now" | "after">,
  calls: () => number,
  refused: () => number = () => 0,
): LoopTurns {
  const queues: Readonly<Record<SharedKind, FairQueue>> = {
    start: newFairQueue(),
    rest: newFairQueue(),
  };
  const large = newLargeTurns(world, calls);
  let began = 0;
  let callsBefore = 0;
  /** Work that has begun in this turn. */
  let begun = 0;
  let isOpen = false;
  let maxMs: Readonly<Record<SharedKind, number>> = MAX_MS_PER_TURN;

  function open() {
    isOpen = true;
    begun = 0;
    began = world.now();
    callsBefore = calls() + refused();
    // The second timer is set after the work of the turn. One that is set before would be due by
    // then, and the runtime looks for connections only if it has to wait.
    world.after(0, () => world.after(0, end));
  }

  function end() {
    isOpen = false;
    const growth = calls() + refused() - callsBefore;
    maxMs = growth < MIN_GROWTH ? MAX_MS_PER_TURN : MAX_MS_PER_CROWDED_TURN;
    if (KINDS.every((kind) => queues[kind].size === 0)) return;
    open();
    for (const kind of KINDS) pass(kind, MIN_PER_TURN);
  }

  /** Begins this much work of a kind, and more of it as long as the turn has time. */
  function pass(kind: SharedKind, min: number) {
    for (let count = 0; count < min; count++) {
      if (queues[kind].shift() !== null) begun++;
    }
    // The work that has begun takes its time before this continues.
    if (queues[kind].size > 0) queueMicrotask(() => hasTime(kind) && pass(kind, 1));
  }

  function hasTime(kind: SharedKind): boolean {
    const isFull = maxMs === MAX_MS_PER_CROWDED_TURN && begun >= MAX_PER_CROWDED_TURN;
    return isOpen && !isFull && world.now() - began < maxMs[kind];
  }

  return {
    next(kind, cancellation = null, client = () => "") {
      if (kind !== "start" && kind !== "rest") {
        const isFirst = kind === "large";
        return large.next(kind, () => ({ client: client(), cancellation, isFirst }));
      }
      if (kind === "start" && calls() < MIN_CALLS) return null;
      if (!isOpen) open();
      const queue = queues[kind];
      if (queue.size === 0 && hasTime(kind)) {
        begun++;
        return null;
      }
      return turnIn(queue, { client: client(), cancellation });
    },
  };
}

/** Returns a promise of a turn; `then` is called when work that is not cancelled has it. */
function turnIn(queue: FairQueue, waiter: Waiter, then?: () => void): Promise<void> {
  return new Promise<void>((go) =>
    queue.push(waiter, (hasTurn) => {
      go();
      if (hasTurn) then?.();
    })
  );
}

/**
 * Returns the turns of large pieces. One that finds none before it begins at once, and further
 * pieces do within `FREE_MS`. They are followed by a pause. While many pieces wait, it is of the
 * longest time if many calls arrive in their turn, and repeated once if they arrive in it: the
 * runtime hands over about 10 in a turn, and the last one would wait for a piece in each. Of those
 * that wait, first steps of calls share a turn within `FREE_MS` too, because most bodies are parsed
 * in less than a millisecond: measured, one for each turn cost calls of 200 kB more than half of
 * their rate. Each other piece has a turn by itself. Calls of a client that have begun go before
 * its others: until it has begun a request is one text, and then values that each collection of
 * garbage visits. They do not go before those of other clients, which would wait for as long as
 * large responses arrive.
 */
function newLargeTurns(world: Pick<World, "now" | "after">, calls: () => number) {
  const waiting = newFairQueue();
  let isTaken = false;
  let began = 0;

  function begin() {
    isTaken = true;
    began = world.now();
    const callsBefore = calls();
    // The timer is due after the work of the turn.
    world.after(0, () => {
      pause(
        isCrowdedSince(callsBefore)
          ? MAX_PAUSE_MS
          : Math.min(PAUSE_RATIO * (world.now() - began), MAX_PAUSE_MS),
      );
    });
  }

  function pause(ms: number, isRepeated = false) {
    const due = world.now() + ms;
    const callsBefore = calls();
    world.after(ms, () => {
      const hasServed = world.now() - due < MAX_LATE_MS && !isCrowdedSince(callsBefore);
      if (hasServed || isRepeated) end();
      else pause(ms, true);
    });
  }

  function isCrowdedSince(callsBefore: number): boolean {
    const isCrowd = calls() >= MIN_CALLS && waiting.size >= MIN_WAITING;
    return isCrowd && calls() - callsBefore >= MIN_GROWTH;
  }

  function end() {
    if (waiting.size === 0) return void (isTaken = false);
    begin();
    waiting.shift();
  }

  function goOn() {
    if (waiting.size > 0 && isFree()) waiting.shift();
  }

  function isFree(): boolean {
    return world.now() - began < FREE_MS;
  }

  return {
    next(kind: Exclude<TurnKind, SharedKind>, waiterOf: () => Waiter): Promise<void> | null {
      if (!isTaken) {
        begin();
        return null;
      }
      if (waiting.size === 0 && isFree()) return null;
      // The text is parsed before the microtask.
      const then = kind === "entering" ? () => queueMicrotask(goOn) : undefined;
      return turnIn(waiting, waiterOf(), then);
    },
  };
}

/** Turns in which all work may be done at once: nothing else waits. */
export const NO_TURNS: LoopTurns = { next: () => null };

/** Length of a JSON text from which each step of the work on it has a turn. */
const MIN_LARGE_CHARS = 256 * 1024;

/**
 * The same for the first step of a call. Many bodies may be there at once, and the parse of one
 * just below 256 KiB can take 15 ms: measured, 60 of them kept the event loop for 0.9 s.
 */
const MIN_ENTERING_CHARS = 32 * 1024;

/**
 * Returns a promise of the turn of the next step of the work on a JSON text of this length, such as
 * its parse; null if that may be done now, as always if the text is short.
 */
export function turnForText(
  turns: LoopTurns,
  chars: number,
  kind: "large" | "entering" = "large",
  cancellation: Cancellation | null = null,
): Promise<void> | null {
  const min = kind === "large" ? MIN_LARGE_CHARS : MIN_ENTERING_CHARS;
  return chars < min ? null : turns.next(kind, cancellation);
}

/**
 * Returns a promise of the turn in which a response that has arrived is parsed; null for now. It is
 * behind the work of its client on values: as long as it waits it is only a text.
 */
export function turnToParse(turns: LoopTurns, chars: number): Promise<void> | null {
  return chars < MIN_LARGE_CHARS ? null : turns.next("entering");
}

/** Number of items from which the work on them is divided among turns. */
const MANY_ITEMS = 500;

/**
 * Returns a promise of the turn of the next piece of work on this many items, which is `large` if
 * it is on all of them; null if it may be done now, as always if they are few.
 */
export function turnAmong(
  turns: LoopTurns,
  items: number,
  kind: "rest" | "large" = "rest",
): Promise<void> | null {
  return items < MANY_ITEMS ? null : turns.next(kind);
}
