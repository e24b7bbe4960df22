import type { Cancellation } from "../../core/cancellation.ts";
import type { World } from "../../core/world.ts";
import { newFairQueue } from "../../traffic/fair_queue.ts";

/** Counts the open WebSockets of each client. */
export type OpenSockets = ReturnType<typeof newOpenSockets>;

/** Returns the count without sockets. */
export function newOpenSockets(maxPerClient: number, world: Pick<World, "after">) {
  const waiting = newFairQueue();
  let isTaken = false;
  const counts = new Map<string, number>();
  const countOf = (client: string) => counts.get(client) ?? 0;

  function add(client: string): (() => void) | null {
    if (countOf(client) >= maxPerClient) return null;
    counts.set(client, countOf(client) + 1);
    return () => {
      const left = countOf(client) - 1;
      if (left > 0) counts.set(client, left);
      else counts.delete(client);
    };
  }

  function take(): void {
    isTaken = true;
    // The timer is due after the work of the turn.
    world.after(0, () => {
      isTaken = false;
      if (waiting.size === 0) return;
      take();
      waiting.shift();
    });
  }

  function turnOf(client: string, cancellation: Cancellation): Promise<boolean> {
    if (isTaken) return new Promise((end) => waiting.push({ client, cancellation }, end));
    take();
    return Promise.resolve(true);
  }

  return {
    /**
     * Resolves to true when the client may open a further socket, which counts while it waits:
     * one is opened in a turn of the event loop, and the turns go round among the clients. The
     * runtime reads a flood of frames that begins at once for milliseconds before it comes back;
     * measured: ten in one turn, as many as it accepts, block the loop for more than half a second.
     * False if the client has too many, or its call is cancelled while it waits.
     */
    async nextTurn(client: string, cancellation: Cancellation): Promise<boolean> {
      const leave = add(client);
      if (leave === null) return false;
      const hasTurn = await turnOf(client, cancellation);
      leave();
      return hasTurn;
    },
    /**
     * Counts a socket that has opened. Returns its end; null, and counts nothing, if the client has
     * too many.
     */
    add,
  };
}
