/** Runs tasks together after a short delay, with one timer. */
export interface Flusher {
  /** Runs the task once when the timer fires. */
  soon(task: () => void): void;
  /** Removes the task if it has not run yet. */
  cancel(task: () => void): void;
}

/** Delay between the first task and the timer, in milliseconds. */
const FLUSH_DELAY_MS = 1;

/**
 * Returns a flusher without tasks. All streams share its timer, because a timer for each stream
 * would cost more than its records.
 */
export function newFlusher(): Flusher {
  const tasks = new Set<() => void>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function run() {
    timer = undefined;
    for (const task of tasks) task();
    tasks.clear();
  }

  return {
    soon(task) {
      tasks.add(task);
      timer ??= setTimeout(run, FLUSH_DELAY_MS);
    },
    cancel(task) {
      if (!tasks.delete(task) || tasks.size > 0) return;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
