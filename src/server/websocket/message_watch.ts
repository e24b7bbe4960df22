import type { Sockets } from "../../sockets/sockets.ts";
import type { World } from "../../core/world.ts";
import type { Connection } from "../connections/connection.ts";
import type { MessageWatch } from "../peer.ts";

/** Notices WebSocket messages that grow beyond their limit before the runtime has joined them. */
export interface MessageWatches {
  /** Calls `onTooLarge` once, when the unfinished message has become too large. */
  add(connection: Connection, onTooLarge: () => void): MessageWatch;
  close(): void;
}

/** Time between two looks, in milliseconds. */
const CHECK_INTERVAL_MS = 50;

/** Sockets that are looked at in one turn of the event loop; of more, each has its turn later. */
const MAX_CHECKS_PER_TURN = 256;

/** A message of 10 MiB with the heads of its fragments and control frames between them. */
const MAX_UNFINISHED_BYTES = 12 * 1024 * 1024;

interface Watched {
  readonly connection: Connection;
  readonly onTooLarge: () => void;
  /** Received bytes of the connection when the last message arrived; null when it was just now. */
  baseBytes: number | null;
}

/** `locate` asks for the descriptors that are not known yet. */
export function newMessageWatches(
  sockets: Sockets,
  clock: Pick<World, "after">,
  locate: () => void,
): MessageWatches {
  /** In the order in which they are looked at. */
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
    // What the runtime has not read yet may be the next message.
    return grown > MAX_UNFINISHED_BYTES &&
      grown - sockets.unreadBytes(descriptor) > MAX_UNFINISHED_BYTES;
  }

  return {
    add(connection, onTooLarge) {
      const watched: Watched = { connection, onTooLarge, baseBytes: null };
      // At once, so that what comes before the first look counts.
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
