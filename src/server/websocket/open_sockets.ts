import type { World } from "../../core/world.ts";

/** Counts the open WebSockets of each client. */
export type OpenSockets = ReturnType<typeof newOpenSockets>;

/** Returns the count without sockets. */
export function newOpenSockets(maxPerClient: number, world: Pick<World, "after">) {
  let lastTurn = Promise.resolve();
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

  return {
    /**
     * Resolves to true when the client may open a further socket, which counts while it waits:
     * one is opened in a turn of the event loop. The runtime reads a flood of frames that begins at
     * once for milliseconds before it comes back; measured: ten in one turn, as many as it accepts,
     * block the loop for more than half a second. False if the client has too many.
     */
    async nextTurn(client: string): Promise<boolean> {
      const leave = add(client);
      if (leave === null) return false;
      const turn = lastTurn;
      lastTurn = turn.then(() => new Promise((go) => void world.after(0, go)));
      await turn;
      leave();
      return true;
    },
    /**
     * Counts a socket that has opened. Returns its end; null, and counts nothing, if the client has
     * too many.
     */
    add,
  };
}
