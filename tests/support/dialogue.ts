import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert } from "./assert.ts";

/** A Responses socket from its client's side. */
export interface Dialogue extends AsyncDisposable {
  /** Sends texts and bytes as they are, an object as JSON. */
  send(message: JsonObject | string | Uint8Array<ArrayBuffer>): void;
  /** The next message as it came; fails when the socket is closed before. */
  text(): Promise<string>;
  /** The next message, which must be a JSON object. */
  next(): Promise<JsonObject>;
  /** Everything up to and with what ends a turn. */
  rest(): Promise<Told>;
  /** Sends a message and reads everything that answers it. */
  turn(message: JsonObject | string | Uint8Array<ArrayBuffer>): Promise<Told>;
  /** The number of received messages that were not read yet. */
  readonly unread: number;
  /** Resolves with the close code when either side has closed the socket. */
  readonly closed: Promise<number>;
  close(): Promise<number>;
}

/** What answers one message. */
export interface Told {
  readonly events: readonly JsonObject[];
  /** The last of them. */
  readonly end: JsonObject;
  /** The type of the last one. */
  readonly ending: string;
  /** The resource of the last one; empty when there is none. */
  readonly response: JsonObject;
  /** The error of an `error` event; empty when the last one is another. */
  readonly error: JsonObject;
  readonly id: string;
  /** All text that the response holds. */
  readonly output: string;
}

const ENDINGS = ["response.completed", "response.incomplete", "response.failed", "error"];

/** Opens a socket and waits until it is open; fails when the handshake does. */
export async function openDialogue(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Dialogue> {
  const address = `${url.replace(/^http/, "ws")}/v1/responses`;
  const socket = new WebSocket(address, { headers: { ...headers } });
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<number>();
  const messages: string[] = [];
  let wake = () => {};
  let isClosed = false;
  socket.binaryType = "arraybuffer";
  socket.onopen = () => opened.resolve();
  socket.onerror = () => opened.reject(new Error("the handshake failed"));
  socket.onmessage = ({ data }) => {
    messages.push(String(data));
    wake();
  };
  socket.onclose = ({ code }) => {
    isClosed = true;
    wake();
    closed.resolve(code);
  };
  await opened.promise;

  async function text(): Promise<string> {
    for (;;) {
      const message = messages.shift();
      if (message !== undefined) return message;
      assert(!isClosed, "the socket is closed");
      await new Promise<void>((resolve) => wake = resolve);
    }
  }

  async function next(): Promise<JsonObject> {
    const message = await text();
    const event = parseJson(message);
    assert(isObject(event), `not an event: ${message}`);
    return event;
  }

  async function rest(): Promise<Told> {
    const events: JsonObject[] = [];
    for (;;) {
      const event = await next();
      events.push(event);
      if (ENDINGS.some((ending) => ending === event.type)) return toldOf(events, event);
    }
  }

  function send(message: JsonObject | string | Uint8Array<ArrayBuffer>): void {
    const isSentAsIs = typeof message === "string" || message instanceof Uint8Array;
    socket.send(isSentAsIs ? message : JSON.stringify(message));
  }

  async function close(): Promise<number> {
    socket.close();
    return await closed.promise;
  }

  return {
    send,
    text,
    next,
    rest,
    turn(message) {
      send(message);
      return rest();
    },
    get unread() {
      return messages.length;
    },
    closed: closed.promise,
    close,
    [Symbol.asyncDispose]: async () => void await close(),
  };
}

/** A message that asks for a response of the model `m`. */
export function create(fields: JsonObject = {}): JsonObject {
  return { type: "response.create", model: "m", input: "Hi", ...fields };
}

function toldOf(events: readonly JsonObject[], end: JsonObject): Told {
  const response = isObject(end.response) ? end.response : {};
  return {
    events,
    end,
    ending: String(end.type),
    response,
    error: isObject(end.error) ? end.error : {},
    id: String(response.id),
    output: outputOf(response),
  };
}

function outputOf({ output }: JsonObject): string {
  const parts = listOf(output).flatMap(({ content }) => listOf(content));
  return parts.map(({ text, refusal }) => text ?? refusal ?? "").join("");
}

function listOf(value: JsonObject[string]): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
