/** Runs tasks together a little later. */
export interface Flusher {
  /** Runs the task at the next round; the result takes it back. */
  soon(task: () => void): () => void;
}

/** A round begins this many milliseconds after its first task came. */
const FLUSH_DELAY_MS = 1;

/** One timer for all who wait: a timer for each stream would cost more than its records do. */
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
      return () => {
        if (!tasks.delete(task) || tasks.size > 0) return;
        clearTimeout(timer);
        timer = undefined;
      };
    },
  };
}
