import type { World } from "../core/world.ts";
import type { Channel } from "./channel.ts";
import type { ToParent, ToWorker } from "./messages.ts";

/**
 * Time limit of a response of the parent, which itself waits 2 s for a worker; later the worker
 * responds alone.
 */
const SCRAPE_TIMEOUT_MS = 5_000;

/** Returns the requests of a worker for the metrics of all workers, which its parent adds. */
export function newGroupMetrics(
  channel: Pick<Channel<ToParent, ToWorker>, "send">,
  world: Pick<World, "after">,
) {
  let hasParent = true;
  let response = Promise.withResolvers<string | null>();

  return {
    hasParent: () => hasParent,
    /** Returns the metrics in the text format; null if no parent responds. */
    scrape: coalesced(async (): Promise<string | null> => {
      if (!hasParent) return null;
      const current = response = Promise.withResolvers();
      if (!channel.send({ kind: "scrape" })) return null;
      const cancel = world.after(SCRAPE_TIMEOUT_MS, () => current.resolve(null));
      try {
        return await current.promise;
      } finally {
        cancel();
      }
    }),
    received(text: string | null) {
      if (text === null) response.reject(new Error("the parent could not add the metrics"));
      else response.resolve(text);
    },
    /** Ends the requests when the parent has ended. */
    leave() {
      hasParent = false;
      response.resolve(null);
    },
  };
}

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
