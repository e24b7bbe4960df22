import type { World } from "../../core/world.ts";
import type { Flusher } from "../flusher.ts";

/** Sends messages to a WebSocket with backpressure. */
export type SocketWriter = ReturnType<typeof newSocketWriter>;

/** Maximum unread bytes of one socket; above this, reading from the upstream pauses. */
const MAX_BUFFERED_BYTES = 64 * 1024;

/** Maximum unread bytes of one socket for `sendNow`; above this, the connection is closed. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/**
 * The runtime has no event for free space in its buffer. The buffer is polled this many times in a
 * row, because most clients read soon, and then at this interval.
 */
const MAX_QUICK_POLLS = 16, POLL_INTERVAL_MS = 20;

/** Interval of the looks at unread bytes that are counted. */
const UNREAD_INTERVAL_MS = 500;

/** Events of a writer. */
interface WriterEvents {
  /** Called with each message before it is sent. */
  onSend(text: string): void;
  /** Called when the client keeps sending but does not read. */
  onOverflow(): void;
  /** Called with the unread bytes that no turn waits for, above 64 KiB; 0 when they are fewer. */
  onUnread(bytes: number): void;
}

/** Returns a writer for one socket. */
export function newSocketWriter(
  socket: Pick<WebSocket, "readyState" | "bufferedAmount"> & { send(text: string): void },
  world: Pick<World, "after">,
  flusher: Flusher,
  { onSend, onOverflow, onUnread }: WriterEvents,
) {
  let counted = 0;
  let isWatched = false;

  function isOpen(): boolean {
    return socket.readyState === WebSocket.OPEN;
  }

  function isFull(): boolean {
    return socket.bufferedAmount > MAX_BUFFERED_BYTES;
  }

  /** Counts unread bytes for which nothing waits, until the client has read them or is gone. */
  function countUnread() {
    const bytes = isOpen() && isFull() ? socket.bufferedAmount : 0;
    if (bytes !== counted) onUnread(bytes);
    counted = bytes;
    if (bytes === 0 || isWatched) return;
    isWatched = true;
    world.after(UNREAD_INTERVAL_MS, () => {
      isWatched = false;
      countUnread();
    });
  }

  function sendText(text: string): void {
    onSend(text);
    socket.send(text);
  }

  return {
    /**
     * Sends a message and resolves when there is room for the next message, or `isUrgent` returns
     * true; false if the socket is closed.
     */
    async send(text: string, isUrgent: () => boolean): Promise<boolean> {
      if (!isOpen()) return false;
      sendText(text);
      for (let polls = 0; isOpen() && isFull() && !isUrgent(); polls++) {
        await new Promise<void>((resolve) => {
          if (polls < MAX_QUICK_POLLS) flusher.soon(resolve);
          else world.after(POLL_INTERVAL_MS, resolve);
        });
      }
      if (isFull()) countUnread();
      return isOpen();
    },
    /** Sends without waiting for backpressure; calls `onOverflow` when over 4 MiB are unread. */
    sendNow(text: string): void {
      if (!isOpen()) return;
      if (socket.bufferedAmount > MAX_UNREAD_BYTES) return onOverflow();
      sendText(text);
      countUnread();
    },
  };
}
