// Until Deno's WebSocket bounds the pongs that it reads, or reports them.

import type { World } from "../core/world.ts";

/** Description of the method that the runtime calls for each pong and before each message. */
const READ_METHOD = "[[serverHandleIdleTimeout]]";

const readSymbol = Object.getOwnPropertySymbols(WebSocket.prototype)
  .find(({ description }) => description === READ_METHOD);

/**
 * Pongs that a client may send within the period: one answers each ping, and some clients send
 * others every few seconds. The runtime also calls the method when a socket opens, and a message
 * counts until it is dispatched.
 */
const MAX_PONGS = 64, PERIOD_MS = 1_000;

/**
 * Calls `onFlood` for each pong that the runtime reads of a socket beyond those that a client may
 * send. It reads all that have arrived before anything else, measured: for 600 ms; once the socket
 * is closing, the next one ends it. Does nothing on a runtime without the method.
 */
export function boundPongs(
  socket: WebSocket,
  clock: Pick<World, "now">,
  onFlood: () => void,
): void {
  const method: unknown = readSymbol && Reflect.get(socket, readSymbol);
  if (readSymbol === undefined || typeof method !== "function") return;
  let pongs = 0;
  let sinceMs = clock.now();
  socket.addEventListener("message", () => pongs--);
  Object.defineProperty(socket, readSymbol, {
    value() {
      const now = clock.now();
      if (now - sinceMs >= PERIOD_MS) [pongs, sinceMs] = [0, now];
      if (++pongs > MAX_PONGS) onFlood();
      if (socket.readyState === WebSocket.OPEN) method.call(socket);
    },
  });
}
