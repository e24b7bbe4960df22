/** Runs the task later, after other work of the event loop had its turn. */
export type Later = (task: () => void) => void;

/** Steps of a walk that are done in one turn of the event loop: a fraction of a millisecond. */
export const MAX_STEPS_PER_TURN = 128;

/**
 * Calls `visit` for every number from 0 to below `bound`, at most `MAX_STEPS_PER_TURN` in one turn of
 * the event loop and the first of them at once. Then, or once `visit` has returned false, calls `done`.
 */
export function walk(
  bound: number,
  visit: (number: number) => boolean,
  later: Later,
  done: () => void,
): void {
  let next = 0;

  function go() {
    const end = Math.min(bound, next + MAX_STEPS_PER_TURN);
    while (next < end) {
      if (!visit(next++)) return done();
    }
    if (next < bound) later(go);
    else done();
  }

  go();
}
