import type { World } from "../../core/world.ts";
import type { Link } from "./link.ts";

/** Time between two sweeps. */
const SWEEP_INTERVAL_MS = 60_000;

/** Time until the next part of a sweep that has not removed everything. */
const SWEEP_PART_MS = 1_000;

/**
 * Removes expired records once a minute and gives their space back to the disk, in parts, so that
 * no request waits long. Returns a function that ends it.
 */
export function startSweep(world: Pick<World, "after">, link: Link): () => void {
  let hasEnded = false;
  let cancel = world.after(SWEEP_INTERVAL_MS, sweep);

  function sweep(): void {
    void runPart().then((isMore) => {
      if (!hasEnded) cancel = world.after(isMore ? SWEEP_PART_MS : SWEEP_INTERVAL_MS, sweep);
    });
  }

  async function runPart(): Promise<boolean> {
    const isMore = await link.runInBackground("removeExpired", () => undefined);
    const isFreeLeft = await link.runInBackground("freePages", () => undefined);
    return (isMore.ok && isMore.value) || (isFreeLeft.ok && isFreeLeft.value);
  }

  return () => {
    hasEnded = true;
    cancel();
  };
}
