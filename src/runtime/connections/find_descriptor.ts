// Until `Deno.serve` gives the descriptor of a connection.

import type { World } from "../../core/world.ts";
import { openDescriptor, type Sockets } from "../sockets.ts";
import type { Connection } from "./connection.ts";
import { newSearch } from "./search.ts";
import type { Sweeps } from "./sweeps.ts";

/**
 * Descriptors below and above the lowest free one that are looked at for a connection of which no
 * sweep knows.
 */
const MAX_NEAR_DESCRIPTORS = 32;

/**
 * The same where the connection must be found now: that of a WebSocket, because many may be opened
 * at once, and that of a response, whose client may send its next request. A search goes as far
 * beyond the highest one known.
 */
const MAX_URGENT_DESCRIPTORS = 512;

/**
 * Time from one such search to the next for each descriptor that it has looked at, 10 ms for all;
 * those between go less far. A socket that its client has closed is found by none, and 2,000
 * searches in a second stopped the event loop for seconds. One that finds its connection soon keeps
 * no other from it.
 */
const URGENT_INTERVAL_MS = 10 / (2 * MAX_URGENT_DESCRIPTORS), MAX_CROWDED_DESCRIPTORS = 8;

/** Lowest free descriptors of the last looks that are kept: a new connection mostly has one. */
const MAX_FREED = 64;

/**
 * Returns the finder of descriptors, which begins where the kernel puts a new connection: at one
 * that was the lowest free one, else near the one of now. Only where a request waits for it, a
 * search of all follows. The next sweep finds every other connection. `connectionAt` returns the
 * connection of a descriptor, null if it is no client's, and takes note of the descriptor.
 */
export function newFinder(
  sockets: Pick<Sockets, "identity" | "lowestFree">,
  clock: Pick<World, "now" | "after">,
  { connectionAt, sweeps }: {
    connectionAt(descriptor: number): Connection | null;
    readonly sweeps: Sweeps;
  },
) {
  /** The lowest free descriptors of the last looks, without repetitions, the oldest first. */
  const freed = new Set<number>();
  /** The highest descriptor of a client connection found since the last sweep began. */
  let top = 0;
  /** The same between the two sweeps before. */
  let formerTop = 0;
  let isClosed = false;
  let nextUrgentMs = 0;
  const search = newSearch(clock, {
    bound: () => Math.max(lowestFree() ?? 0, top, formerTop) + MAX_URGENT_DESCRIPTORS,
    connectionAt,
  });

  /** Returns the lowest free descriptor, and keeps it. */
  function lowestFree(): number | null {
    const free = sockets.lowestFree();
    if (free === null) return null;
    freed.delete(free);
    freed.add(free);
    for (const oldest of freed) {
      if (freed.size <= MAX_FREED) break;
      freed.delete(oldest);
    }
    return free;
  }

  /**
   * Looks at the descriptors next to the lowest free one, else hurries the next sweep. Connections
   * on the way are found too: each of many that arrive at once would else be compared with all.
   * Returns the number of descriptors that were looked at.
   */
  function findNear(connection: Connection, maxAway: number): number {
    const free = lowestFree();
    for (let away = 1; free !== null && away <= maxAway; away++) {
      for (const descriptor of [free - away, free + away]) {
        if (connectionAt(descriptor) === connection) return 2 * away;
      }
    }
    sweeps.soon();
    return 2 * maxAway;
  }

  function findUrgent(connection: Connection) {
    const now = clock.now();
    const isCrowded = now < nextUrgentMs;
    const max = isCrowded ? MAX_CROWDED_DESCRIPTORS : MAX_URGENT_DESCRIPTORS;
    const looked = findNear(connection, max);
    if (!isCrowded) nextUrgentMs = now + looked * URGENT_INTERVAL_MS;
  }

  /** Returns true if the descriptor is known, or found where the kernel puts new ones. */
  function findNow(connection: Connection): boolean {
    connection.descriptor = openDescriptor(sockets, connection);
    if (connection.descriptor !== null) return true;
    for (const descriptor of freed) {
      if (connectionAt(descriptor) === connection) return true;
    }
    findUrgent(connection);
    return connection.descriptor !== null;
  }

  return {
    keepLowestFree: (): void => void lowestFree(),
    /** A sweep begins. */
    swept(): void {
      formerTop = top;
      top = 0;
    },
    /** A client connection has this descriptor. */
    found(descriptor: number): void {
      top = Math.max(top, descriptor);
    },
    locate: (connection: Connection): void => void findNear(connection, MAX_NEAR_DESCRIPTORS),
    locateNow: findUrgent,
    findNow,
    /** Resolves after a sweep that has begun later: it has found every socket of a connection. */
    async searched(): Promise<void> {
      sweeps.soon();
      // One that is under way may have passed a descriptor.
      for (let left = sweeps.isUnderWay() ? 2 : 1; left > 0 && !isClosed; left--) {
        await sweeps.ended();
      }
    },
    /** Resolves when the connection is found, or neither a search nor a sweep has found it. */
    async located(connection: Connection): Promise<void> {
      if (isClosed || findNow(connection)) return;
      await search.find(connection);
      // A sweep that is under way may have passed its descriptor.
      for (let left = sweeps.isUnderWay() ? 2 : 1; left > 0; left--) {
        if (isClosed || findNow(connection)) return;
        await sweeps.ended();
      }
    },
    close(): void {
      isClosed = true;
      search.close();
    },
  };
}
