import type { World } from "../core/world.ts";

/** Interval of the heartbeat messages that the gateway sends. */
const HEARTBEAT_INTERVAL_MS = 20_000;

/** Time limit until a connection is open. */
const CONNECT_TIMEOUT_MS = 15_000;

/** A connection without a received message for this time is closed. */
const MAX_SILENCE_MS = 60_000;

/** Time limit of the closing handshake. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Maximum number of unsent bytes; beyond it the connection is closed. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;

/** Events of a connection. No event follows `over`. */
export interface LinkEvents {
  opened(): void;
  /** Called with the text of a message; with another type for a binary frame. */
  message(data: unknown): void;
  /** Called once if the connection is lost or fails to open; not called after `close`. */
  over(wasGood: boolean): void;
}

/** One connection to the dashboard. */
export type RemoteLink = ReturnType<typeof newLink>;

/** Address, credential and clock of a connection. */
export interface LinkSettings {
  /** WebSocket URL, `ws:` or `wss:`. */
  readonly url: string;
  readonly apiKey: string;
  readonly world: World;
}

/** Opens a connection. Throws if the address or the key is malformed. */
export function newLink({ url, apiKey, world }: LinkSettings, events: LinkEvents) {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${apiKey}` } });
  const closed = Promise.withResolvers<void>();
  let isOver = false;
  let openedAt: number | null = null;
  let receivedAt = 0;
  let cancelTimer = world.after(CONNECT_TIMEOUT_MS, lose);

  socket.addEventListener("open", () => {
    if (isOver) return;
    openedAt = receivedAt = world.now();
    cancelTimer();
    cancelTimer = world.after(HEARTBEAT_INTERVAL_MS, beat);
    events.opened();
  });
  socket.addEventListener("message", ({ data }) => {
    if (isOver) return;
    receivedAt = world.now();
    events.message(data);
  });
  // The error event contains the address, so it has no listener that could log it.
  socket.addEventListener("close", () => {
    closed.resolve();
    lose();
  });

  function beat() {
    if (world.now() - receivedAt >= MAX_SILENCE_MS) return lose();
    cancelTimer = world.after(HEARTBEAT_INTERVAL_MS, beat);
    send({ type: "heartbeat" });
  }

  function send(message: object) {
    if (socket.readyState !== WebSocket.OPEN) return;
    if (socket.bufferedAmount > MAX_UNSENT_BYTES) return lose();
    socket.send(JSON.stringify(message));
  }

  function lose() {
    if (isOver) return;
    end();
    // A connection that is closed right after it opened does not reset the reconnect delay.
    events.over(openedAt !== null && world.now() - openedAt >= HEARTBEAT_INTERVAL_MS);
  }

  function end() {
    isOver = true;
    cancelTimer();
    socket.close();
  }

  return {
    /** Sends a message as JSON; does nothing if the connection is closed. */
    send,
    /** Closes the connection; resolves when it is closed, after one second at most. */
    async close(): Promise<void> {
      if (!isOver) end();
      const giveUp = world.after(CLOSE_TIMEOUT_MS, closed.resolve);
      await closed.promise;
      giveUp();
    },
  };
}
