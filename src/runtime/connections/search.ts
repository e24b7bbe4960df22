// Until `Deno.serve` gives the descriptor of a connection.

import type { World } from "../../core/world.ts";
import { walk } from "../walk.ts";
import type { Connection } from "./connection.ts";

/**
 * Descriptors that a search looks at in one turn of the event loop. Each takes up to two
 * microseconds.
 */
const MAX_STEPS = 2_048;

/** Maximum descriptors per millisecond: it bounds the work of searches that follow each other. */
const MAX_DESCRIPTORS_PER_MS = 200;

/**
 * Returns the search for connections that must be found now, wherever their descriptors are: that
 * of a new one was the lowest free one, which is far from the one of now if others have closed
 * meanwhile. One search looks for all that wait. `connectionAt` returns the connection of a
 * descriptor; null if it is no client's.
 */
export function newSearch(
  clock: Pick<World, "now" | "after">,
  { bound, connectionAt }: {
    /** Returns a number above the descriptor of every connection, as far as is known. */
    bound(): number;
    connectionAt(descriptor: number): Connection | null;
  },
) {
  /** The connections that the next search looks for, with what waits for each. */
  let waiting = new Map<Connection, PromiseWithResolvers<void>>();
  /** Those that a search looks for now. */
  let sought: typeof waiting = new Map();
  let isSearching = false;
  let earliestMs = 0;
  let cancel = () => {};

  function search() {
    sought = waiting;
    waiting = new Map();
    let looks = 0;
    walk(
      bound(),
      (descriptor) => {
        looks++;
        const connection = connectionAt(descriptor);
        if (connection === null) return true;
        for (const connections of [sought, waiting]) {
          connections.get(connection)?.resolve();
          connections.delete(connection);
        }
        return sought.size > 0;
      },
      (task) => void (cancel = clock.after(0, task)),
      () => {
        release(sought);
        earliestMs = clock.now() + looks / MAX_DESCRIPTORS_PER_MS;
        isSearching = false;
        plan();
      },
      MAX_STEPS,
    );
  }

  function release(connections: typeof waiting) {
    for (const { resolve } of connections.values()) resolve();
    connections.clear();
  }

  function plan() {
    if (isSearching || waiting.size === 0) return;
    isSearching = true;
    const waitMs = earliestMs - clock.now();
    if (waitMs > 0) cancel = clock.after(waitMs, search);
    else search();
  }

  return {
    /** Resolves when the connection is found, or a search that began later has not found it. */
    find(connection: Connection): Promise<void> {
      const end = waiting.get(connection) ?? Promise.withResolvers<void>();
      waiting.set(connection, end);
      plan();
      return end.promise;
    },
    close(): void {
      cancel();
      release(sought);
      release(waiting);
    },
  };
}
