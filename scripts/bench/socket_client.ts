/** A WebSocket client of the Responses API that decides when it reads. */
export interface SocketClient extends Disposable {
  /** Requests one more response. */
  ask(): Promise<void>;
  /** Reads `turns` responses, with a pause after each read. */
  read(turns: number, pause: () => Promise<void>): Promise<ReadResult>;
}

/** The responses and bytes that a client has read. */
export interface ReadResult {
  /** The number of complete responses, with their events in order. */
  readonly answered: number;
  readonly bytes: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const HANDSHAKE = "GET /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: Upgrade\r\n" +
  "upgrade: websocket\r\nsec-websocket-version: 13\r\n" +
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: Bearer sk-bench\r\n\r\n";

const CREATE = encoder.encode(
  JSON.stringify({ type: "response.create", model: "bench", input: "Hi", store: false }),
);

/** A text frame. Its mask of zeros leaves the text unchanged (RFC 6455, section 5.2). */
const CREATE_FRAME = Uint8Array.of(0x81, 0x80 | CREATE.length, 0, 0, 0, 0, ...CREATE);

/** The gateway closes a connection that does not answer its ping in time. */
const PING_FRAME_CODE = 0x89, PONG_FRAME = Uint8Array.of(0x8a, 0x80, 0, 0, 0, 0);

/** Opens a WebSocket to a loopback port. Unread bytes stay in the kernel. */
export async function newSocketClient(port: number): Promise<SocketClient> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const piece = new Uint8Array(64 * 1024);
  let held = new Uint8Array(0);
  await write(encoder.encode(HANDSHAKE));
  while (headEnd() < 0) await more();
  held = held.slice(headEnd());

  async function write(bytes: Uint8Array) {
    for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
  }

  async function more(): Promise<number> {
    const count = await connection.read(piece);
    if (count === null) throw new Error("The gateway closed a socket.");
    const joined = new Uint8Array(held.length + count);
    joined.set(held);
    joined.set(piece.subarray(0, count), held.length);
    held = joined;
    return count;
  }

  function headEnd(): number {
    const at = decoder.decode(held).indexOf("\r\n\r\n");
    return at < 0 ? -1 : at + 4;
  }

  /** Returns the next complete message, empty for a ping; null if more bytes are needed. */
  function message(): string | null {
    const view = new DataView(held.buffer, held.byteOffset, held.byteLength);
    const short = held[1] ?? 0;
    const start = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (held.length < start) return null;
    const length = short === 126
      ? view.getUint16(2)
      : short === 127
      ? Number(view.getBigUint64(2))
      : short;
    if (held.length < start + length) return null;
    const isPing = held[0] === PING_FRAME_CODE;
    const text = isPing ? "" : decoder.decode(held.subarray(start, start + length));
    held = held.subarray(start + length);
    return text;
  }

  async function read(turns: number, pause: () => Promise<void>): Promise<ReadResult> {
    let [answered, bytes, next] = [0, 0, 0];
    while (answered < turns) {
      bytes += await more();
      for (let text = message(); text !== null; text = message()) {
        if (text === "") {
          await write(PONG_FRAME);
          continue;
        }
        const [, type, number] = /^\{"type":"([^"]*)","sequence_number":(\d+)/.exec(text) ?? [];
        if (Number(number) !== next++) throw new Error(`An event is missing: ${text.slice(0, 99)}`);
        if (type !== "response.completed") continue;
        answered++;
        next = 0;
      }
      await pause();
    }
    return { answered, bytes };
  }

  return { ask: () => write(CREATE_FRAME), read, [Symbol.dispose]: () => connection.close() };
}
