/** Runs work that can be interrupted in one piece. */
export function atOnce<Value>(work: Generator<void, Value, void>): Value {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Runs work that can be interrupted. `next` returns the turn of a further piece; null for now. */
export async function atPace<Value>(
  pace: { next(): Promise<void> | null },
  work: Generator<void, Value, void>,
): Promise<Value> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    const turn = pace.next();
    if (turn !== null) await turn;
  }
}
