import type { World } from "../../core/world.ts";
import type { Flusher } from "../flusher.ts";

/** Sends messages no faster than the other side takes them. */
export interface SocketWriter {
  /** Resolves when there is room for the next one; false when nothing more can be sent. */
  send(text: string): Promise<boolean>;
  /** Says something out of turn; too much of it, unread, is told to `flooded`. */
  sendNow(text: string): void;
}

/** Unread bytes of one socket from which on the upstream has to wait. */
const MAX_BUFFERED_BYTES = 64 * 1024;

/** Unread bytes of one socket from which on its connection is closed. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/**
 * The runtime does not signal when there is room again. Its buffer is looked at this many times in a
 * row, because most clients read soon, and then at this interval.
 */
const QUICK_POLLS = 16, POLL_INTERVAL_MS = 20;

/** A writer for one socket; `flooded` runs when its client sends and sends but does not read. */
export function newSocketWriter(
  socket: Pick<WebSocket, "readyState" | "bufferedAmount" | "send">,
  world: Pick<World, "after">,
  flusher: Flusher,
  onOverflow: () => void,
): SocketWriter {
  function isOpen(): boolean {
    return socket.readyState === WebSocket.OPEN;
  }

  return {
    async send(text) {
      if (!isOpen()) return false;
      socket.send(text);
      for (let polls = 0; isOpen() && socket.bufferedAmount > MAX_BUFFERED_BYTES; polls++) {
        await new Promise<void>((resolve) => {
          if (polls < QUICK_POLLS) flusher.soon(resolve);
          else world.after(POLL_INTERVAL_MS, resolve);
        });
      }
      return isOpen();
    },
    sendNow(text) {
      if (!isOpen()) return;
      if (socket.bufferedAmount > MAX_UNREAD_BYTES) onOverflow();
      else socket.send(text);
    },
  };
}
