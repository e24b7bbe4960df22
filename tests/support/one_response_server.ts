import { type Line, openLine } from "./line.ts";
import { readRequest } from "./received_request.ts";

/** A server whose keep-alive connections break on their second request. */
export interface OneResponseServer extends AsyncDisposable {
  readonly url: string;
  /** Bodies of the received requests, in order. */
  readonly bodies: readonly string[];
  /** Number of accepted connections. */
  connections(): number;
}

/**
 * Starts a server that responds with this body to the first request of each connection, and closes
 * the connection without a response after the second.
 */
export function oneResponseServer(body: string): OneResponseServer {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const bodies: string[] = [];
  const lines: Line[] = [];
  const accepting = accept();

  async function accept() {
    for await (const connection of listener) {
      const line = openLine(connection);
      lines.push(line);
      void serve(line);
    }
  }

  async function serve(line: Line) {
    const first = await readRequest(line.read);
    if (first === null) return line.close();
    bodies.push(first.body);
    const response = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    await line.write(new TextEncoder().encode(response));
    const second = await readRequest(line.read);
    if (second !== null) bodies.push(second.body);
    line.close();
  }

  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    bodies,
    connections: () => lines.length,
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      for (const line of lines) line.close();
      await Promise.all(lines.map((line) => line.quiet()));
    },
  };
}
