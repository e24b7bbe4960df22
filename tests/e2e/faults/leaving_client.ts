import { assert } from "../../support/assert.ts";
import type { TestGateway } from "../../support/gateway.ts";
import type { SocketGateway } from "../../support/socket_gateway.ts";
import type { Column } from "./columns.ts";

/** A client in the middle of a call. */
export interface LeavingClient {
  /** Returns the bytes that the client has received so far. */
  received(): string;
  /** Disconnects the client. */
  leave(): Promise<void>;
  /** Resolves when the client has received everything, or has left. */
  readonly over: Promise<void>;
}

/** Begins a call in the process, whose client reads whatever comes. */
export function newHttpClient({ app }: TestGateway, column: Column): LeavingClient {
  const connection = new AbortController();
  const { signal } = connection;
  const body = JSON.stringify(column.body);
  const request = new Request(`http://localhost${column.path}`, { method: "POST", body, signal });
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let text = "";

  async function read() {
    const decoder = new TextDecoder();
    reader = (await app(request)).body?.getReader();
    // As the listener does with a response to a client that is gone.
    if (signal.aborted) await reader?.cancel();
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      text += decoder.decode(read.value, { stream: true });
    }
  }

  return {
    received: () => text,
    async leave() {
      connection.abort();
      await reader?.cancel();
    },
    over: read(),
  };
}

/** Begins a turn of a WebSocket. */
export async function newTurnClient(
  served: SocketGateway,
  { body }: Column,
): Promise<LeavingClient> {
  const socket = await served.open();
  let text = "";
  let hasLeft = false;

  async function read() {
    try {
      for (let isLast = false; !isLast;) {
        const message = await socket.text();
        text += message;
        isLast = /"type":"response\.(?:completed|failed|incomplete)"/.test(message);
      }
    } catch (error) {
      assert(hasLeft, String(error));
    }
    await socket.close();
  }

  socket.send(body);
  return {
    received: () => text,
    async leave() {
      hasLeft = true;
      await socket.close();
    },
    over: read(),
  };
}
