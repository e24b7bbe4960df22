import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { at } from "../answers/json_at.ts";
import { readResponsesStream } from "../answers/responses.ts";
import { checkMeaning, demand, type SoakClient } from "../client.ts";
import { TYPES } from "../config.ts";
import { question, textRequest } from "./inference.ts";
import type { Use } from "./use.ts";

const ENDS = ["response.completed", "response.incomplete", "response.failed", "error"];

/** Time limit in milliseconds for a handshake, and for each turn. */
const SOCKET_TIMEOUT_MS = 60_000;

/** A socket of the Responses API. */
interface Socket {
  turn(message: JsonObject): Promise<readonly JsonObject[]>;
  /** Sends a message and resolves with its first event. */
  begin(message: JsonObject): Promise<JsonObject>;
  close(): Promise<void>;
}

async function open({ url, headers }: SoakClient): Promise<Socket> {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/v1/responses`, {
    headers: { ...headers },
  });
  const closed = Promise.withResolvers<void>();
  const events: JsonObject[] = [];
  let wake = () => {};
  socket.onmessage = ({ data }) => {
    const event = parseJson(String(data));
    if (isObject(event)) events.push(event);
    wake();
  };
  socket.onclose = () => {
    closed.resolve();
    wake();
  };
  await inTime(
    new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error("The handshake failed."));
    }),
  );
  socket.onerror = () => {};

  async function next(): Promise<JsonObject> {
    for (;;) {
      const event = events.shift();
      if (event !== undefined) return event;
      demand(socket.readyState === WebSocket.OPEN, "the socket was closed");
      await inTime(new Promise<void>((resolve) => wake = resolve));
    }
  }

  return {
    async turn(message) {
      socket.send(JSON.stringify(message));
      const received: JsonObject[] = [];
      do received.push(await next()); while (!ENDS.includes(String(received.at(-1)?.type)));
      return received;
    },
    begin(message) {
      socket.send(JSON.stringify(message));
      return next();
    },
    async close() {
      socket.close();
      await inTime(closed.promise);
    },
  };
}

/** Rejects if a promise takes too long, without leaving its timer behind. */
async function inTime<T>(promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("The socket is silent.")), SOCKET_TIMEOUT_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Three turns on one connection, and a client that leaves during a turn. */
export const SOCKET_USES: readonly Use[] = [...TYPES, "native"].flatMap((provider) => [
  {
    name: `websocket over ${provider}, three turns`,
    async run(client) {
      const socket = await open(client);
      const begin = (kind: string) => ({
        ...textRequest("responses", `${provider}/${kind}`, question(client), true),
        type: "response.create",
      });
      const tools = client.turn % 2 === 0 ? "sim-tools-parallel" : "sim-think-tools";
      check(client, await socket.turn(begin(tools)));
      const first = await socket.turn(begin("sim-transcript"));
      check(client, first);
      const again = await socket.turn({
        type: "response.create",
        model: `${provider}/sim-transcript`,
        input: `And again ${client.mark}.`,
        previous_response_id: at(first.at(-1), "response", "id") ?? null,
      });
      check(client, again);
      await socket.close();
    },
  },
  {
    name: `websocket over ${provider}, the client leaves`,
    async run(client) {
      const socket = await open(client);
      const model = `${provider}/sim-slow-20`;
      await socket.begin({ type: "response.create", model, input: question(client) });
      await socket.close();
      client.simulated();
    },
  },
]);

function check(client: SoakClient, events: readonly JsonObject[]): void {
  checkMeaning(client, readResponsesStream(events), JSON.stringify(events.at(-1)));
}
