/**
 * Returns a function that runs a task at most once at a time. Requests during a run share the next
 * one, which begins after it, so that each result is newer than its request.
 */
export function coalesced<Value>(task: () => Promise<Value>): () => Promise<Value> {
  let running: Promise<Value> | null = null;
  let next: Promise<Value> | null = null;

  function run(): Promise<Value> {
    const current = task().finally(() => {
      if (running === current) running = null;
    });
    return running = current;
  }

  return () => {
    // A run that waits for the one before has not begun, even if that one has just ended.
    if (next !== null) return next;
    if (running === null) return run();
    return next = running.then(ignore, ignore).then(() => {
      next = null;
      return run();
    });
  };
}

function ignore(): void {}
