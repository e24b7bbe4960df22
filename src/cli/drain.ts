import type { Config } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import type { Log } from "../observe/log.ts";
import type { InFlight } from "../traffic/in_flight.ts";

/** Time for the last bytes of responses to reach their clients once no call is in flight. */
const LAST_BYTES_TIMEOUT_MS = 5_000;

/** Parts of a gateway that a shutdown uses. */
export interface Drained {
  readonly inFlight: InFlight;
  readonly world: Pick<World, "after">;
  readonly log: Pick<Log, "warn">;
  /** Accepts no more connections; resolves when all are closed. */
  shutDown(): Promise<void>;
}

/**
 * Shuts a gateway down: first /ready reports the shutdown, then no more requests are accepted, at
 * last the calls in flight are cancelled, each with an error for its client. `hurry` ends the drain
 * delay.
 */
export async function drain(
  { inFlight, world, log, shutDown }: Drained,
  { drain_delay, drain_timeout }: Config["server"],
  ...hurry: readonly Promise<void>[]
): Promise<void> {
  inFlight.drain();
  if (drain_delay > 0) await atMost(drain_delay, world, ...hurry);
  const closed = shutDown().then(() => inFlight.idle());
  let isOver = false;
  await atMost(drain_timeout, world, closed, quiet());
  isOver = true;
  const { count } = inFlight;
  const calls = inFlight.cancelAll();
  if (count === 0) return;
  if (calls > 0) log.warn("calls were cut off: server.drain_timeout has passed", { calls });
  await atMost(LAST_BYTES_TIMEOUT_MS, world, closed);

  /**
   * Bounds the wait for connections: a request with an incomplete head would keep the process
   * alive.
   */
  async function quiet() {
    do {
      await inFlight.idle();
      if (!isOver) await atMost(LAST_BYTES_TIMEOUT_MS, world, closed);
    } while (inFlight.count > 0);
  }
}

/** Time for the connections of the admin page to end once no call is in flight. */
const PAGE_TIMEOUT_MS = 1_000;

/**
 * Closes the listener of the admin page. It waits no longer than a second: a client that sends part
 * of a request, or reads no response, would keep the process alive, and what is to be written would
 * be lost.
 */
export async function closePage(
  page: { close(): Promise<void> },
  world: Pick<World, "after">,
): Promise<void> {
  await atMost(PAGE_TIMEOUT_MS, world, page.close());
}

/** Resolves when one of the promises does, after `ms` milliseconds at the latest. */
function atMost(
  ms: number,
  world: Pick<World, "after">,
  ...promises: readonly Promise<void>[]
): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = world.after(ms, resolve);
    Promise.race(promises).then(resolve, reject).finally(cancel);
  });
}
