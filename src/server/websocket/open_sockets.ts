import type { World } from "../../core/world.ts";

/** Counts the open WebSockets of each client. */
export type OpenSockets = ReturnType<typeof newOpenSockets>;

/** Returns the count without sockets. */
export function newOpenSockets(maxPerClient: number, world: Pick<World, "after">) {
  let lastTurn = Promise.resolve();
  const counts = new Map<string, number>();
  const countOf = (client: string) => counts.get(client) ?? 0;
  const isFull = (client: string) => countOf(client) >= maxPerClient;
  return {
    /**
     * Resolves when a further socket may be opened: one in a turn of the event loop. The runtime
     * reads a flood of frames that begins at once for milliseconds before it comes back; measured:
     * ten in one turn, as many as it accepts, block the loop for more than half a second.
     */
    nextTurn(): Promise<void> {
      const turn = lastTurn;
      lastTurn = turn.then(() => new Promise((go) => void world.after(0, go)));
      return turn;
    },
    /** True if the client may open no more. */
    isFull,
    /**
     * Counts a socket that has opened. Returns its end; null, and counts nothing, if the client has
     * too many.
     */
    add(client: string): (() => void) | null {
      if (isFull(client)) return null;
      counts.set(client, countOf(client) + 1);
      return () => {
        const left = countOf(client) - 1;
        if (left > 0) counts.set(client, left);
        else counts.delete(client);
      };
    },
  };
}
