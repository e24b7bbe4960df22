import type { Sockets } from "../../sockets/sockets.ts";
import type { World } from "../../core/world.ts";
import type { Connection } from "../connections/connection.ts";
import type { MessageWatch } from "../peer.ts";

/**
 * Detects WebSocket messages that exceed their size limit before the runtime has joined their
 * fragments.
 */
export interface MessageWatches {
  /** Watches a connection and calls `onTooLarge` once, when its unfinished message is too large. */
  add(connection: Connection, onTooLarge: () => void): MessageWatch;
  close(): void;
}

/** Interval between two checks. */
const CHECK_INTERVAL_MS = 50;

/**
 * Maximum number of sockets that are checked in one turn of the event loop; further sockets are
 * checked in later turns.
 */
const MAX_CHECKS_PER_TURN = 256;

/**
 * Maximum bytes of an unfinished message: 10 MiB, with the frame headers of its fragments and
 * control frames between them.
 */
const MAX_UNFINISHED_BYTES = 12 * 1024 * 1024;

interface Watched {
  readonly connection: Connection;
  readonly onTooLarge: () => void;
  /**
   * Received bytes of the connection when the last message arrived; null if no check has run since.
   */
  baseBytes: number | null;
}

/**
 * Returns a watcher without sockets. It calls `locate` when the descriptor of a connection is not
 * known yet.
 */
export function newMessageWatches(
  sockets: Sockets,
  clock: Pick<World, "after">,
  locate: () => void,
): MessageWatches {
  /** Sockets in the order of their next check. */
  const watches = new Set<Watched>();
  let cancel: (() => void) | null = null;

  function look() {
    cancel = null;
    let looks = Math.min(watches.size, MAX_CHECKS_PER_TURN);
    for (const watched of watches) {
      if (looks-- === 0) break;
      watches.delete(watched);
      if (isTooLarge(watched)) watched.onTooLarge();
      else if (!watched.connection.isGone) watches.add(watched);
    }
    if (watches.size > 0) cancel ??= clock.after(CHECK_INTERVAL_MS, look);
  }

  function isTooLarge(watched: Watched): boolean {
    const { connection: { descriptor }, baseBytes } = watched;
    if (descriptor === null) {
      locate();
      return false;
    }
    const receivedBytes = sockets.traffic(descriptor)?.receivedBytes ?? 0;
    if (baseBytes === null || receivedBytes < baseBytes) {
      watched.baseBytes = receivedBytes;
      return false;
    }
    const grown = receivedBytes - baseBytes;
    // Bytes that the runtime has not read yet may belong to the next message.
    return grown > MAX_UNFINISHED_BYTES &&
      grown - sockets.unreadBytes(descriptor) > MAX_UNFINISHED_BYTES;
  }

  return {
    add(connection, onTooLarge) {
      const watched: Watched = { connection, onTooLarge, baseBytes: null };
      // Checked immediately, so that bytes received before the first interval count.
      isTooLarge(watched);
      watches.add(watched);
      cancel ??= clock.after(CHECK_INTERVAL_MS, look);
      return {
        arrived() {
          watched.baseBytes = null;
        },
        end: () => void watches.delete(watched),
      };
    },
    close() {
      cancel?.();
      watches.clear();
    },
  };
}
