import {
  type Attack,
  CONTINUES_CODE,
  frame,
  many,
  oneProvider,
  openSocket,
  pause,
  PING_CODE,
  PONG_CODE,
  TEXT_CODE,
} from "./support.ts";

const SOCKET_COUNT = 60, FLOOD_MS = 10_000;

/** Bytes that are written at once, at least, and the time without room that ends a socket. */
const WRITE_BYTES = 64 * 1024, FULL_MS = 2_000;

/** Bits of a frame that ends its message, and of one with a mask. */
const LAST_CODE = 0x80, MASK_CODE = 0x80;

const MASK = [1, 2, 3, 4];

/**
 * Frames on each of some sockets, again and again, after the first one. The sockets are opened
 * again whenever they are closed.
 */
function flood(
  row: string,
  what: string,
  frames: readonly Iterable<number>[],
  first = new Uint8Array(),
): Attack {
  const some = frames.flatMap((bytes) => [...bytes]);
  const length = Math.ceil(WRITE_BYTES / some.length) * some.length;
  const bytes = Uint8Array.from({ length }, (_, at) => some[at % some.length] ?? 0);
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
          await socket.write(first);
          const full = () => pause(FULL_MS).then(() => false);
          while (performance.now() < end && await Promise.race([socket.write(bytes), full()])) {
            writes++;
          }
        }
      });
      return `${opened} sockets opened, ${writes} x ${length} bytes written`;
    },
  };
}

/** The smallest frames with a mask and without one. */
const masked = (opcode: number) => [LAST_CODE | opcode, MASK_CODE, ...MASK];
const bare = (opcode: number) => [LAST_CODE | opcode, 0];

/** A pong whose mask looks like a ping of many bytes. */
const DECOY = [LAST_CODE | PONG_CODE, MASK_CODE, LAST_CODE | PING_CODE, MASK_CODE | 127, 1, 1];

const MIXED = [DECOY, ...Array.from({ length: 20 }, () => masked(PING_CODE)), bare(PING_CODE)];

/** Floods of frames that are small for the client, and work for the gateway. */
export const socketFloods: readonly Attack[] = [
  flood("A5 pings", "pings", [frame(PING_CODE, "")]),
  flood("A5 mixed pings", "pings with and without masks, and pongs", MIXED),
  flood("A5 pongs", "pongs with and without masks", [masked(PONG_CODE), bare(PONG_CODE)]),
  flood(
    "A5 empty fragments",
    "empty fragments of a message",
    [[CONTINUES_CODE, MASK_CODE, ...MASK]],
    frame(TEXT_CODE, "{", { isLast: false }),
  ),
  flood("A5 small messages", "messages of two characters", [frame(TEXT_CODE, "{}")]),
];
