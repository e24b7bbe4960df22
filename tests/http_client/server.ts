import { Cancellation } from "../../src/core/cancellation.ts";
import { type HttpClient, newHttpClient } from "../../src/http_client/client.ts";
import type { Clock } from "../../src/http_client/connection_pool.ts";
import type { Outgoing } from "../../src/core/world.ts";
import { type Line, openLine } from "../support/line.ts";
import { readRequest, type ReceivedRequest } from "../support/received_request.ts";

export const encoder = new TextEncoder();

/** A server, and a client to ask it with. */
export interface Served extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly client: HttpClient;
  /** How many connections came so far. */
  connections(): number;
}

/** Serves each connection with the script, which gets its number, counted from 1. */
export function server(
  script: (line: Line, number: number) => Promise<void>,
  clock?: Clock,
): Served {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const client = newHttpClient(clock);
  const lines: Line[] = [];
  const running: Promise<void>[] = [];
  const accepting = accept();

  async function accept() {
    for await (const connection of listener) {
      const line = openLine(connection);
      lines.push(line);
      running.push(script(line, lines.length));
    }
  }

  return {
    port: listener.addr.port,
    url: `http://127.0.0.1:${listener.addr.port}/v1`,
    client,
    connections: () => lines.length,
    async [Symbol.asyncDispose]() {
      client.close();
      listener.close();
      await accepting;
      for (const line of lines) line.close();
      await Promise.all([...running, ...lines.map((line) => line.quiet())]);
    },
  };
}

/** Answers every request of a connection. */
export function answering(answer: (request: ReceivedRequest, count: number) => string) {
  return async (line: Line) => {
    for (let count = 1;; count++) {
      const request = await readRequest(line.read);
      if (request === null) return;
      await line.write(encoder.encode(answer(request, count)));
    }
  };
}

/** A request, a GET where there is no body. */
export function post(body: string | null, more: Partial<Outgoing> = {}): Outgoing {
  return {
    method: body === null ? "GET" : "POST",
    headers: {},
    body,
    cancellation: new Cancellation(),
    ...more,
  };
}

/** A request that can be aborted. */
export interface Abortable {
  readonly request: Outgoing;
  abort(): void;
}

/** Returns a request and the function that cancels it. */
export function abortable(body: string | null): Abortable {
  const cancellation = new Cancellation();
  return { request: post(body, { cancellation }), abort: () => cancellation.cancel(null) };
}

/** A whole answer with its length. */
export function plain(text: string, more = ""): string {
  return `HTTP/1.1 200 OK\r\n${more}content-length: ${encoder.encode(text).length}\r\n\r\n${text}`;
}
