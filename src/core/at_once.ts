/** Runs work that can be interrupted in one piece. */
export function atOnce<Value>(work: Generator<void, Value, void>): Value {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** `next` returns the turn of a further piece of work; null if it may begin now. */
interface Turns {
  next(): Promise<void> | null;
}

/** Runs work that can be interrupted. */
export async function atPace<Value>(
  pace: Turns,
  work: Generator<void, Value, void>,
): Promise<Value> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    const turn = pace.next();
    if (turn !== null) await turn;
  }
}

/** Runs work that is mostly short: its value is there at once then, and no pace is made. */
export function atPaceOf<Value>(
  pace: () => Turns,
  work: Generator<void, Value, void>,
): Value | Promise<Value> {
  const step = work.next();
  return step.done === true ? step.value : atPace(pace(), work);
}
