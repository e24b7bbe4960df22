import { Buffer } from "node:buffer";
import { openLine } from "../support/line.ts";

/** An HTTP connection on which a test writes the bytes itself. */
export interface RawConnection extends AsyncDisposable {
  /** The port of this side. */
  readonly port: number;
  send(text: string): Promise<boolean>;
  /** Returns the text up to the end of this one; everything if the other side closed before. */
  receiveUntil(text: string): Promise<string>;
}

/** Connects to a server such as `http://127.0.0.1:8080`. */
export async function connectRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const line = openLine(connection);
  let received = "";

  return {
    port: connection.localAddr.port,
    send: (text) => line.write(Buffer.from(text, "latin1")),
    async receiveUntil(text) {
      while (!received.includes(text)) {
        const bytes = await line.read();
        if (bytes === null) break;
        received += Buffer.from(bytes).toString("latin1");
      }
      const found = received.indexOf(text);
      const end = found < 0 ? received.length : found + text.length;
      const part = received.slice(0, end);
      received = received.slice(end);
      return part;
    },
    async [Symbol.asyncDispose]() {
      line.close();
      await line.quiet();
    },
  };
}

/**
 * True if the runtime itself refuses a request with a length and chunks, with an empty response:
 * Deno 2.9 and newer.
 */
export const IS_FRAMING_REFUSED_BY_RUNTIME = Number(Deno.version.deno.split(".")[1]) >= 9;
