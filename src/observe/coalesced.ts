import type { World } from "../core/world.ts";

/**
 * Rest after a run, as a multiple of the time that it took, and its longest time in milliseconds.
 * However many requests come, the runs take at most a 25th of the time: a text of metrics, which
 * takes 0.4 ms, is made again after 10 ms. No client that waits for metrics notices 250 ms.
 */
const REST_RATIO = 24, MAX_REST_MS = 250;

/**
 * Returns a function that runs a task at most once at a time, with a rest after it. Requests during
 * a run and its rest share the next one, which begins after them, so that each result is newer than
 * its request. There is no rest without a clock, as for requests of processes that rest themselves.
 */
export function coalesced<Value>(
  task: () => Promise<Value>,
  world: Pick<World, "now" | "after"> | null = null,
): () => Promise<Value> {
  /** Resolves after the run and its rest. */
  let busy: Promise<void> | null = null;
  let next: Promise<Value> | null = null;

  function run(): Promise<Value> {
    const began = world?.now() ?? 0;
    const free = Promise.withResolvers<void>();
    busy = free.promise;
    return Promise.try(task).finally(() => {
      const restMs = Math.min(REST_RATIO * ((world?.now() ?? 0) - began), MAX_REST_MS);
      if (world === null || restMs <= 0) end();
      else world.after(restMs, end);
    });

    function end(): void {
      busy = null;
      free.resolve();
    }
  }

  return () => {
    // A run that waits for the one before has not begun, even if that one has just ended.
    if (next !== null) return next;
    if (busy === null) return run();
    return next = busy.then(() => {
      next = null;
      return run();
    });
  };
}
