import {
  type Attack,
  BODY_MEMORY_RATIO,
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

/** Items of a whole message, and what each has besides its content. */
const ITEM_COUNT = 9_000, ITEM_CHARS = 40;

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

/** The last event of a response that is cut off at its length. */
const LAST_EVENT = '"type":"response.incomplete"';

/** Requests of nearly 10 MiB that arrive together, each on a socket. */
const wholeMessages: Attack = {
  row: "A4 whole",
  size: (times) => `${SOCKET_COUNT * times} sockets × 10 MB, whole messages`,
  config: (upstream) => oneProvider(`${upstream}/compat/v1`),
  async load(target, times) {
    const content = "x".repeat(MESSAGE_BYTES / ITEM_COUNT - ITEM_CHARS);
    const input = Array(ITEM_COUNT).fill({ role: "user", content });
    const message = frame(
      TEXT_CODE,
      JSON.stringify({ type: "response.create", model: "sim-length", input }),
    );
    const ends = await many(SOCKET_COUNT * times, async () => {
      using socket = await openSocket(target).catch(() => null);
      if (socket === null || !await socket.write(message)) return "closed";
      const first = await socket.readUntil('"sequence_number":0');
      const code = /"code":\s*"(\w+)"/.exec(first)?.[1];
      if (code !== undefined) return code;
      const text = await socket.readUntil(LAST_EVENT);
      return text.includes(LAST_EVENT) ? "served" : "broken off";
    });
    return countsOf(ends);
  },
  maxGrowthMib: () => BODY_MEMORY_RATIO * 256,
};

const filler = new Uint8Array(MESSAGE_BYTES).fill("x".charCodeAt(0));
const fragment = filler.subarray(0, FRAGMENT_BYTES);

/** WebSocket messages without an end, in fragments and as one frame, and whole ones at once. */
export const largeMessages: readonly Attack[] = [
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
  wholeMessages,
];
