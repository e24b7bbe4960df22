import { createConnection } from "node:net";

/** Connects from this port of `127.0.0.1` to an address of the system. */
export function connectFrom(localPort: number, host: string, port: number) {
  const socket = createConnection({ host, port, localAddress: "127.0.0.1", localPort });
  const chunks = socket.setEncoding("latin1")[Symbol.asyncIterator]();
  let received = "";
  return {
    send: (text: string) => void socket.write(text, "latin1"),
    /** Returns the text up to the end of this one; everything if the other side closed before. */
    async receiveUntil(text: string): Promise<string> {
      while (!received.includes(text)) {
        const { done, value } = await chunks.next().catch(() => ({ done: true, value: "" }));
        if (done === true) break;
        received += value;
      }
      const [part = ""] = received.split(text);
      const isWhole = received.length > part.length;
      received = received.slice(part.length + text.length);
      return isWhole ? part + text : part;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** Returns a port that is free. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
