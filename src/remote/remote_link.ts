import type { World } from "../core/world.ts";

/** Milliseconds between two heartbeats of the gateway. */
const HEARTBEAT = 20_000;

/** A connection must be open after this many milliseconds. */
const CONNECT_PATIENCE = 15_000;

/** After this many milliseconds without a word from the other side the connection counts as dead. */
const LONGEST_SILENCE = 60_000;

/** A closing connection is waited for this many milliseconds. */
const CLOSE_PATIENCE = 1_000;

/** The connection ends when the other side has left so many bytes unread. */
const MOST_UNREAD = 64 * 1024 * 1024;

/** What happens on a connection. Nothing is told after `over`. */
export interface LinkEvents {
  opened(): void;
  /** Text, or something else when the frame was binary. */
  message(data: unknown): void;
  /** The connection is over, or never came about; told once, unless this side closes it. */
  over(wasGood: boolean): void;
}

/** One connection to the dashboard. */
export interface RemoteLink {
  /** Sends a message as JSON; nothing when the connection is over. */
  send(message: object): void;
  /** Ends the connection; resolves when it is closed, after a second at most. */
  close(): Promise<void>;
}

/** Where a connection goes, and what tells its time. */
export interface LinkSettings {
  /** `ws:` or `wss:`. */
  readonly url: string;
  readonly apiKey: string;
  readonly world: World;
}

/** Connects. Throws when the address or the key is such that no connection can ever be tried. */
export function newLink({ url, apiKey, world }: LinkSettings, events: LinkEvents): RemoteLink {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${apiKey}` } });
  const closed = Promise.withResolvers<void>();
  let isOver = false;
  let openedAt: number | null = null;
  let heardAt = 0;
  let cancelTimer = world.after(CONNECT_PATIENCE, lose);

  socket.addEventListener("open", () => {
    if (isOver) return;
    openedAt = heardAt = world.now();
    cancelTimer();
    cancelTimer = world.after(HEARTBEAT, beat);
    events.opened();
  });
  socket.addEventListener("message", ({ data }) => {
    if (isOver) return;
    heardAt = world.now();
    events.message(data);
  });
  // Why it failed stands in the error event, with the address; so nobody listens to that one.
  socket.addEventListener("close", () => {
    closed.resolve();
    lose();
  });

  function beat() {
    if (world.now() - heardAt >= LONGEST_SILENCE) return lose();
    cancelTimer = world.after(HEARTBEAT, beat);
    send({ type: "heartbeat" });
  }

  function send(message: object) {
    if (socket.readyState !== WebSocket.OPEN) return;
    if (socket.bufferedAmount > MOST_UNREAD) return lose();
    socket.send(JSON.stringify(message));
  }

  function lose() {
    if (isOver) return;
    end();
    // Whoever accepts and hangs up at once is not a connection to begin again for.
    events.over(openedAt !== null && world.now() - openedAt >= HEARTBEAT);
  }

  function end() {
    isOver = true;
    cancelTimer();
    socket.close();
  }

  return {
    send,
    async close() {
      if (!isOver) end();
      const giveUp = world.after(CLOSE_PATIENCE, closed.resolve);
      await closed.promise;
      giveUp();
    },
  };
}
