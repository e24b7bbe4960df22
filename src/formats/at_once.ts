/** Runs work that can be interrupted in one piece. */
export function atOnce<Value>(work: Generator<void, Value, void>): Value {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
