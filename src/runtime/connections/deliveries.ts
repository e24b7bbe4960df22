// Until `Deno.serve` reports that the client has taken the last byte of a response.

import { openDescriptor, type Sockets } from "../sockets.ts";
import type { World } from "../../core/world.ts";
import type { Connection } from "./connection.ts";

/** Interval between two looks at the connections. */
const LOOK_INTERVAL_MS = 20;

/**
 * Maximum connections that are looked at in one turn; further ones are looked at in later turns.
 */
const MAX_LOOKS_PER_TURN = 256;

/**
 * Returns a register of responses that the runtime has written, but that may not have reached their
 * clients in full. It calls `locate` when the descriptor of a connection is not known, which may
 * find it, and `locateNow`, which looks further, when a response was written or the client has sent
 * its next request.
 */
export function newDeliveries(
  sockets: Pick<Sockets, "identity" | "traffic">,
  clock: Pick<World, "after">,
  { locate, locateNow }: Readonly<
    Record<"locate" | "locateNow", (connection: Connection) => void>
  >,
) {
  /** Tasks by connection, in the order of their next look. */
  const waiting = new Map<Connection, (() => void)[]>();
  let cancel: (() => void) | null = null;

  function isSent(connection: Connection, find: (connection: Connection) => void): boolean {
    if (connection.isGone) return true;
    let descriptor = openDescriptor(sockets, connection);
    if (descriptor === null) {
      connection.descriptor = null;
      find(connection);
      // The runtime writes at once what the system takes, so a new connection is mostly found
      // empty.
      descriptor = openDescriptor(sockets, connection);
    }
    return descriptor !== null && (sockets.traffic(descriptor)?.unsentBytes ?? 0) === 0;
  }

  function run(connection: Connection) {
    const tasks = waiting.get(connection) ?? [];
    waiting.delete(connection);
    for (const task of tasks) task();
  }

  function lookAtAll() {
    cancel = null;
    let looks = Math.min(waiting.size, MAX_LOOKS_PER_TURN);
    for (const [connection, tasks] of waiting) {
      if (looks-- === 0) break;
      if (isSent(connection, locate)) {
        run(connection);
        continue;
      }
      waiting.delete(connection);
      waiting.set(connection, tasks);
    }
    plan();
  }

  function plan() {
    if (waiting.size > 0) cancel ??= clock.after(LOOK_INTERVAL_MS, lookAtAll);
  }

  return {
    /** Calls `task` once no written byte waits on the connection, immediately if none does. */
    add(connection: Connection, task: () => void): void {
      const tasks = waiting.get(connection);
      if (tasks !== undefined) tasks.push(task);
      else if (isSent(connection, locateNow)) task();
      else {
        waiting.set(connection, [task]);
        plan();
      }
    },
    /** Calls the tasks of a connection on which nothing waits any more. */
    look(connection: Connection): void {
      if (waiting.size > 0 && waiting.has(connection) && isSent(connection, locateNow)) {
        run(connection);
      }
    },
    /** Calls all tasks, because every connection is closed. */
    close(): void {
      cancel?.();
      for (const connection of [...waiting.keys()]) run(connection);
    },
  };
}
