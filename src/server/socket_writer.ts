import type { World } from "../core/world.ts";
import type { Flusher } from "./flusher.ts";

/** Sends messages no faster than the other side takes them. */
export interface SocketWriter {
  /** Resolves when there is room for the next one; false when nothing more can be sent. */
  send(text: string): Promise<boolean>;
  /** Says something out of turn; too much of it, unread, is told to `flooded`. */
  tell(text: string): void;
}

/** So many bytes may wait for a slow client before its upstream has to wait as well. */
const FULL = 64 * 1024;

/** So many bytes may wait before a client that only makes trouble is left. */
const FLOODED = 4 * 1024 * 1024;

/**
 * The runtime does not say when there is room again. It is asked so many times in a row, because most
 * clients are only not that quick, and then after so many milliseconds each.
 */
const QUICK_ASKS = 16, ASK = 20;

/** A writer for one socket; `flooded` runs when its client sends and sends but does not read. */
export function socketWriter(
  socket: Pick<WebSocket, "readyState" | "bufferedAmount" | "send">,
  world: Pick<World, "after">,
  flusher: Flusher,
  flooded: () => void,
): SocketWriter {
  function isOpen(): boolean {
    return socket.readyState === WebSocket.OPEN;
  }

  return {
    async send(text) {
      if (!isOpen()) return false;
      socket.send(text);
      for (let asks = 0; isOpen() && socket.bufferedAmount > FULL; asks++) {
        await new Promise<void>((resolve) => {
          if (asks < QUICK_ASKS) flusher.soon(resolve);
          else world.after(ASK, resolve);
        });
      }
      return isOpen();
    },
    tell(text) {
      if (!isOpen()) return;
      if (socket.bufferedAmount > FLOODED) flooded();
      else socket.send(text);
    },
  };
}
