import type { World } from "../core/world.ts";
import { newEndingHandler } from "../simulator/ending.ts";
import { newSimulator } from "../simulator/simulator.ts";
import { listen, type Listening } from "./listen.ts";

/** Time for the responses to requests in flight to begin once the server is closing. */
const BEGIN_TIMEOUT_MS = 5_000;

/**
 * Serves the simulator on loopback; port 0 picks a free one. Closing waits for the requests in
 * flight; those that have no response after `BEGIN_TIMEOUT_MS` are ended.
 */
export function serveSimulator(world: World, port: number): Listening {
  const { handle, end } = newEndingHandler(newSimulator(world));
  const listening = listen(handle, "127.0.0.1", port);
  if (!listening.ok) return listening;
  return {
    ...listening,
    async close() {
      const cancel = world.after(BEGIN_TIMEOUT_MS, end);
      await listening.close();
      cancel();
    },
  };
}
