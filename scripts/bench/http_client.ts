import { Buffer } from "node:buffer";

/** The status, size and times of one response. Times start when the request is sent. */
export interface TimedResponse {
  readonly status: number;
  /** The length of the body in bytes, without chunked framing. */
  readonly length: number;
  /** The time until the first byte of the body. */
  readonly firstByteMs: number;
  readonly totalMs: number;
}

/** A keep-alive connection with one request at a time. */
export interface HttpClient extends Disposable {
  exchange(request: Uint8Array): Promise<TimedResponse>;
  /** Returns the body of the last response, without chunked framing. */
  body(): string;
  /** Returns a copy of the bytes of that body. */
  bytes(): Uint8Array;
  /** True if the body of the last response has exactly these bytes. */
  hasBody(bytes: Uint8Array): boolean;
}

/** Limit of a response with its head, in bytes. */
const MAX_RESPONSE_BYTES = 512 * 1024;

const CR = 13, ZERO = 48, NINE = 57, LOWER_CASE_BIT_CODE = 32, LOWER_A_CODE = 97;
/** The codes between the size of a chunk and its extension. */
const TAB_CODE = 9, BLANK_CODE = 32, SEMICOLON_CODE = 59;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Encodes a POST request as it is sent. Names of further headers are in lower case. */
export function encodePost(
  path: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
): Uint8Array {
  const all = {
    host: "127.0.0.1",
    "content-type": "application/json",
    authorization: "Bearer sk-bench",
    ...headers,
    "content-length": `${body.length}`,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = encoder.encode(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const request = new Uint8Array(head.length + body.length);
  request.set(head);
  request.set(body, head.length);
  return request;
}

async function connect(port: number): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  connection.setNoDelay(true);
  return connection;
}

/**
 * Connects to a loopback port. Responses are read into one buffer and parsed at their end, because
 * the load generator must cost less than the server it measures.
 */
export async function newHttpClient(port: number): Promise<HttpClient> {
  let connection = await connect(port);
  let isClosing = false;
  const buffer = new Uint8Array(MAX_RESPONSE_BYTES);
  let filled = 0;
  let bodyAt = 0;
  let isChunked = false;

  async function more() {
    if (!await isMoreRead()) throw new Error("The server closed the connection.");
  }

  /** Reads further bytes. Returns false at the end of the connection. */
  async function isMoreRead(): Promise<boolean> {
    const count = await connection.read(buffer.subarray(filled));
    if (count === null) return false;
    filled += count;
    if (filled === MAX_RESPONSE_BYTES) {
      throw new Error("A response is larger than the benchmark's limit.");
    }
    return true;
  }

  async function exchange(request: Uint8Array): Promise<TimedResponse> {
    if (isClosing) {
      connection.close();
      connection = await connect(port);
    }
    const began = performance.now();
    filled = bodyAt = 0;
    for (let sent = 0; sent < request.length;) {
      sent += await connection.write(request.subarray(sent));
    }
    while (bodyAt === 0) {
      await more();
      bodyAt = headEnd();
    }
    const head = decoder.decode(buffer.subarray(0, bodyAt));
    if (!head.startsWith("HTTP/1.")) throw new Error("The response is not HTTP/1.1.");
    const status = Number(head.slice(9, 12));
    const declared = status === 204
      ? "0"
      : /\r\ncontent-length:[ \t]*(\d+)[ \t]*\r\n/i.exec(head)?.[1];
    isChunked = declared === undefined && /\r\ntransfer-encoding:/i.test(head);
    const isUntilClosed = declared === undefined && !isChunked;
    // Some servers end a connection after a number of requests.
    isClosing = isUntilClosed || /\r\nconnection:[ \t]*close[ \t]*\r\n/i.test(head) ||
      head.startsWith("HTTP/1.0") && !/\r\nconnection:[ \t]*keep-alive/i.test(head);
    const whole = bodyAt + Number(declared ?? 1);
    while (filled === bodyAt && filled < whole && await isMoreRead());
    const firstByteMs = performance.now() - began;
    if (isUntilClosed) { while (await isMoreRead()); }
    else while (isChunked ? !hasLastChunk() : filled < whole) await more();
    const totalMs = performance.now() - began;
    return { status, length: bodyLength(), firstByteMs, totalMs };
  }

  function headEnd(): number {
    for (
      let at = buffer.indexOf(CR);
      at >= 0 && at + 4 <= filled;
      at = buffer.indexOf(CR, at + 1)
    ) {
      if (buffer[at + 1] === 10 && buffer[at + 2] === CR) return at + 4;
    }
    return 0;
  }

  /**
   * True if the bytes read end with the last chunk. Nothing follows a response before the next
   * request.
   */
  function hasLastChunk(): boolean {
    return filled > 7 && decoder.decode(buffer.subarray(filled - 7, filled)) === "\r\n0\r\n\r\n";
  }

  function bodyLength(): number {
    let length = 0;
    for (const [start, end] of parts()) length += end - start;
    return length;
  }

  function* parts(): Generator<readonly [number, number], void, void> {
    if (!isChunked) return yield [bodyAt, filled];
    for (let at = bodyAt;;) {
      const lineEnd = buffer.indexOf(CR, at);
      const size = parseChunkSize(at, lineEnd);
      if (size === 0) return;
      yield [lineEnd + 2, lineEnd + 2 + size];
      at = lineEnd + 2 + size + 2;
    }
  }

  /** Parses the hexadecimal size of a chunk, which an extension may follow. */
  function parseChunkSize(at: number, end: number): number {
    let size = 0;
    for (const digit of buffer.subarray(at, end)) {
      if (digit === SEMICOLON_CODE || digit === BLANK_CODE || digit === TAB_CODE) break;
      size = size * 16 +
        (digit <= NINE ? digit - ZERO : (digit | LOWER_CASE_BIT_CODE) - LOWER_A_CODE + 10);
    }
    return size;
  }

  function hasBody(bytes: Uint8Array): boolean {
    let at = 0;
    for (const [start, end] of parts()) {
      const expected = bytes.subarray(at, at += end - start);
      if (Buffer.compare(buffer.subarray(start, end), expected) !== 0) return false;
    }
    return at === bytes.length;
  }

  return {
    exchange,
    hasBody,
    bytes: () => Buffer.concat([...parts()].map((part) => buffer.subarray(...part))),
    body: () => [...parts()].map((part) => decoder.decode(buffer.subarray(...part))).join(""),
    [Symbol.dispose]: () => connection.close(),
  };
}
