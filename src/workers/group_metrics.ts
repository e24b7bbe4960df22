import type { World } from "../core/world.ts";
import { coalesced } from "../observe/coalesced.ts";
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
  world: Pick<World, "now" | "after">,
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
    }, world),
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
