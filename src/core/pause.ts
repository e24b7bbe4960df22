import type { Cancellation } from "./cancellation.ts";
import type { World } from "./world.ts";

/** Waits before a retry. Resolves early on cancellation, and immediately if already cancelled. */
export function pause(
  world: Pick<World, "after">,
  cancellation: Cancellation,
  ms: number,
): Promise<void> {
  if (cancellation.isCancelled) return Promise.resolve();
  return new Promise((resolve) => {
    const cancelTimer = world.after(ms, end);
    const unsubscribe = cancellation.onCancel(end);

    function end() {
      cancelTimer();
      unsubscribe();
      resolve();
    }
  });
}
