import type { World } from "../core/world.ts";

/** Time that the bodies of all responses take in one turn of the event loop, in milliseconds. */
const MAX_MS_PER_TURN = 4;

/** Bodies that go on in every turn, however long the turn has taken already. */
const MIN_BODIES_PER_TURN = 2;

/**
 * Bounds the time for which large response bodies keep the event loop from other work: without it, all sockets
 * with bytes are read and translated before a new connection is accepted.
 */
export interface BodyTurns {
  /** Null if the next piece of a body may be read now; else a promise of its turn, in order of arrival. */
  next(): Promise<void> | null;
}

/** Returns the turns of the bodies of a gateway. */
export function newBodyTurns(world: Pick<World, "now" | "after">): BodyTurns {
  const waiting: (() => void)[] = [];
  let began = 0;
  let isOpen = false;

  function open() {
    isOpen = true;
    began = world.now();
    world.after(0, end);
  }

  function end() {
    isOpen = false;
    if (waiting.length === 0) return;
    open();
    for (const go of waiting.splice(0, MIN_BODIES_PER_TURN)) go();
  }

  return {
    next() {
      if (!isOpen) open();
      const hasTime = world.now() - began < MAX_MS_PER_TURN;
      if (hasTime && waiting.length === 0) return null;
      const turn = new Promise<void>((go) => waiting.push(go));
      // The body that asks has ended its piece: the one that waits longest may begin.
      if (hasTime) waiting.shift()?.();
      return turn;
    },
  };
}
