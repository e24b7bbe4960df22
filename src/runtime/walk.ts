// Until the sockets of the process need not be searched for.

/** Schedules a task for a later turn of the event loop. */
export type Later = (task: () => void) => void;

/** Calls of `visit` in one turn of the event loop: a fraction of a millisecond. */
export const MAX_STEPS_PER_TURN = 128;

/**
 * Calls `visit` for every number from 0 to below `bound`, at most `maxSteps` times in one turn of
 * the event loop; the first turn is the current one. Calls `done` after the last number, or
 * after `visit` returned false.
 */
export function walk(
  bound: number,
  visit: (number: number) => boolean,
  later: Later,
  done: () => void,
  maxSteps = MAX_STEPS_PER_TURN,
): void {
  let next = 0;

  function go() {
    const end = Math.min(bound, next + maxSteps);
    while (next < end) {
      if (!visit(next++)) return done();
    }
    if (next < bound) later(go);
    else done();
  }

  go();
}
