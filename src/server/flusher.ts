/** Runs tasks together after a short delay, with one timer. */
export type Flusher = ReturnType<typeof newFlusher>;

/** Delay between the first task and the timer, in milliseconds. */
const FLUSH_DELAY_MS = 1;

/**
 * Returns a flusher without tasks. All streams share its timer, because a timer for each stream
 * would cost more than its records.
 */
export function newFlusher() {
  const tasks = new Set<() => void>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function run() {
    timer = undefined;
    for (const task of tasks) task();
    tasks.clear();
  }

  return {
    /** Runs the task once when the timer fires. */
    soon(task: () => void): void {
      tasks.add(task);
      timer ??= setTimeout(run, FLUSH_DELAY_MS);
    },
    /** Removes the task if it has not run yet. */
    cancel(task: () => void): void {
      if (!tasks.delete(task) || tasks.size > 0) return;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
