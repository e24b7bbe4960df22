import {
  type Attack,
  CONTINUES_CODE,
  countsOf,
  frame,
  many,
  oneProvider,
  openSocket,
  pause,
  PING_CODE,
  type RawConnection,
  type Target,
  TEXT_CODE,
} from "./support.ts";

const SOCKET_COUNT = 80;

/** Bytes of an unfinished message, and of each of its fragments. */
const MESSAGE_BYTES = 10_000_000, FRAGMENT_BYTES = 500_000;

/** Time for which pings keep the unfinished messages open. */
const OPEN_MS = 10_000;

/** Opens sockets, as many as are permitted, and sends to each what the function writes. */
async function unfinished(
  target: Target,
  count: number,
  write: (socket: RawConnection) => Promise<boolean>,
): Promise<string> {
  const opened = await many(count, () => openSocket(target).catch(() => null));
  const sockets = opened.filter((one) => one !== null);
  const sent = await Promise.all(sockets.map(write));
  for (const began = performance.now(); performance.now() - began < OPEN_MS;) {
    await Promise.all(sockets.map((socket) => socket.write(frame(PING_CODE, "here"))));
    await pause(1_000);
  }
  for (const socket of sockets) socket[Symbol.dispose]();
  const ends = countsOf(sent.map((isSent) => isSent ? "sent" : "closed"));
  return `${sockets.length} sockets; ${ends}`;
}

function attack(
  row: string,
  what: string,
  write: (socket: RawConnection) => Promise<boolean>,
): Attack {
  return {
    row,
    size: (times) => `${SOCKET_COUNT * times} sockets × 10 MB, ${what}`,
    config: (upstream) => oneProvider(`${upstream}/compat/v1`),
    load: (target, times) => unfinished(target, SOCKET_COUNT * times, write),
  };
}

const filler = new Uint8Array(MESSAGE_BYTES).fill("x".charCodeAt(0));
const fragment = filler.subarray(0, FRAGMENT_BYTES);

/** WebSocket messages without an end, in fragments and as one frame. */
export const unfinishedMessages: readonly Attack[] = [
  attack("A4 fragments", "in fragments", async (socket) => {
    let isOpen = await socket.write(frame(TEXT_CODE, fragment, { isLast: false }));
    for (let sent = FRAGMENT_BYTES; sent < MESSAGE_BYTES && isOpen; sent += FRAGMENT_BYTES) {
      isOpen = await socket.write(frame(CONTINUES_CODE, fragment, { isLast: false }));
    }
    return isOpen;
  }),
  attack(
    "A4 frame",
    "one frame",
    (socket) => socket.write(frame(TEXT_CODE, filler, { declared: MESSAGE_BYTES + 100_000 })),
  ),
];
