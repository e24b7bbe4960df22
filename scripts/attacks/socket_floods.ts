import {
  type Attack,
  frame,
  many,
  oneProvider,
  openSocket,
  pause,
  PING_CODE,
  TEXT_CODE,
} from "./support.ts";

const SOCKET_COUNT = 60, FLOOD_MS = 10_000;

/** Frames that are written at once, and the time without room for them that ends a socket. */
const FRAME_COUNT = 4_000, FULL_MS = 2_000;

/** Very many frames on each of some sockets, which are opened again whenever they are closed. */
function flood(row: string, what: string, bytes: Uint8Array<ArrayBuffer>): Attack {
  return {
    row,
    size: (times) => `${SOCKET_COUNT * times} sockets, ${what}`,
    config: (upstream) => oneProvider(`${upstream}/compat/v1`),
    async load(target, times) {
      const end = performance.now() + FLOOD_MS;
      let opened = 0, writes = 0;
      await many(SOCKET_COUNT * times, async () => {
        while (performance.now() < end) {
          using socket = await openSocket(target).catch(() => null);
          if (socket === null) {
            await pause(100);
            continue;
          }
          opened++;
          const full = () => pause(FULL_MS).then(() => false);
          while (performance.now() < end && await Promise.race([socket.write(bytes), full()])) {
            writes++;
          }
        }
      });
      return `${opened} sockets opened, ${writes} x ${FRAME_COUNT} frames written`;
    },
  };
}

function repeated(one: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(FRAME_COUNT * one.length);
  for (let at = 0; at < FRAME_COUNT; at++) all.set(one, at * one.length);
  return all;
}

/** Pings of the least size, and a pong after eight of them. */
const MIXED_PINGS = new Uint8Array(
  [...Array.from({ length: 8 }, () => 0x89), 0x8a].flatMap((code) => [code, 0x80, 1, 2, 3, 4]),
);

/** Floods of frames that are small for the client, and work for the gateway. */
export const socketFloods: readonly Attack[] = [
  flood("A5 pings", "pings", repeated(frame(PING_CODE, ""))),
  flood("A5 mixed pings", "pings with pongs between", repeated(MIXED_PINGS)),
  flood("A5 small messages", "messages of two characters", repeated(frame(TEXT_CODE, "{}"))),
];
