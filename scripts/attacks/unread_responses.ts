import {
  type Attack,
  connectRaw,
  many,
  oneProvider,
  pause,
  requestHead,
  sendOk,
} from "./support.ts";

const CONNECTION_COUNT = 60;

/** Items of the conversation, and the characters of each: 54 MB. */
const ITEM_COUNT = 100, ITEM_CHARS = 540_000;

/** Items in one request, as its body may have 10 MiB. */
const ADDED_COUNT = 10;

/** Downloads, and the pieces of each. */
const FILE_COUNT = 120, PIECE_COUNT = 1_000;

const PIECE = new Uint8Array(60_000).fill("x".charCodeAt(0));

/** Time for which the connections do not read. */
const UNREAD_MS = 15_000;

/** Requests for a whole conversation of 54 MB, on connections that do not read. */
export const unreadResponses: Attack = {
  row: "A2",
  size: (times) => `${CONNECTION_COUNT * times} GETs of 54 MB, unread`,
  config: (upstream) => oneProvider(`${upstream}/compat/v1`),
  async load(target, times) {
    const conversations = `${target.url}/v1/conversations`;
    const { id } = JSON.parse((await sendOk(conversations, "{}")).text);
    const content = "x".repeat(ITEM_CHARS);
    for (let at = 0; at < ITEM_COUNT; at += ADDED_COUNT) {
      const items = Array(ADDED_COUNT).fill({ type: "message", role: "user", content });
      await sendOk(`${conversations}/${id}/items`, JSON.stringify({ items }));
    }
    const head = requestHead(`GET /v1/conversations/${id}/items?limit=${ITEM_COUNT}`);
    const connections = await many(CONNECTION_COUNT * times, () => connectRaw(target));
    await many(connections.length, async (at) => void await connections[at]?.write(head));
    await pause(UNREAD_MS);
    for (const connection of connections) connection[Symbol.dispose]();
    return `${connections.length} unread`;
  },
};

/** Downloads of a file of 60 MB, on connections that do not read. */
export const unreadFiles: Attack = {
  row: "A2 files",
  size: (times) => `${FILE_COUNT * times} downloads of 60 MB, unread`,
  config: (upstream) => oneProvider(`${upstream}/v1`, { capabilities: { relay: ["files"] } }),
  upstream: () => {
    let left = PIECE_COUNT;
    return new Response(
      new ReadableStream({
        pull(controller) {
          if (left-- === 0) controller.close();
          else controller.enqueue(PIECE);
        },
      }, { highWaterMark: 0 }),
      { headers: { "content-type": "application/octet-stream" } },
    );
  },
  async load(target, times) {
    const connections = await many(FILE_COUNT * times, () => connectRaw(target));
    await many(connections.length, async (at) => {
      await connections[at]?.write(requestHead(`GET /v1/files/file-${at}/content`));
    });
    await pause(UNREAD_MS);
    for (const connection of connections) connection[Symbol.dispose]();
    return `${connections.length} unread`;
  },
};
