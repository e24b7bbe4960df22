import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert } from "./assert.ts";

/** A WebSocket client of the Responses API. */
export interface SocketClient extends AsyncDisposable {
  /** Sends texts and bytes unchanged, an object as JSON. */
  send(message: JsonObject | string | Uint8Array<ArrayBuffer>): void;
  /** Returns the text of the next message; fails if the socket is closed before. */
  text(): Promise<string>;
  /** Returns the next message, which must be a JSON object. */
  next(): Promise<JsonObject>;
  /** Returns the events up to the last event of a turn. */
  rest(): Promise<TurnEvents>;
  /** Sends a message and returns the events of its turn. */
  turn(message: JsonObject | string | Uint8Array<ArrayBuffer>): Promise<TurnEvents>;
  /** The number of received messages that were not read yet. */
  readonly unread: number;
  /** Resolves with the close code when either side has closed the socket. */
  readonly closed: Promise<number>;
  close(): Promise<number>;
}

/** The events in reply to one message. */
export interface TurnEvents {
  readonly events: readonly JsonObject[];
  /** The last event. */
  readonly end: JsonObject;
  /** Type of the last event. */
  readonly ending: string;
  /** The Response object of the last event; empty without one. */
  readonly response: JsonObject;
  /** The error of an `error` event; empty if the last event has another type. */
  readonly error: JsonObject;
  readonly id: string;
  /** All text of the response. */
  readonly output: string;
}

const ENDINGS = ["response.completed", "response.incomplete", "response.failed", "error"];

/** Opens a socket and waits until it is open; fails if the handshake fails. */
export async function openSocketClient(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<SocketClient> {
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

  async function rest(): Promise<TurnEvents> {
    const events: JsonObject[] = [];
    for (;;) {
      const event = await next();
      events.push(event);
      if (ENDINGS.some((ending) => ending === event.type)) return receivedOf(events, event);
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

function receivedOf(events: readonly JsonObject[], end: JsonObject): TurnEvents {
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
