/** One answer. Times in milliseconds after the request began to be sent. */
export interface TimedResponse {
  readonly status: number;
  /** Bytes of the body, without the framing of its chunks. */
  readonly length: number;
  /** The last bytes of the body. */
  readonly ending: string;
  /** When the first byte of the body was there. */
  readonly firstByteMs: number;
  readonly totalMs: number;
}

/** One connection that is kept alive, with one request at a time. */
export interface HttpClient extends Disposable {
  exchange(request: Uint8Array): Promise<TimedResponse>;
  /** The body of the last answer, without the framing of its chunks. */
  body(): string;
}

/** An answer with its head is never larger than this many bytes. */
const MAX_RESPONSE_BYTES = 512 * 1024;

const CR = 13, ZERO = 48, NINE = 57, SMALL = 32, SMALL_A = 97;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** A POST as it goes over the line. */
export function encodePost(path: string, body: Uint8Array): Uint8Array {
  const head = encoder.encode(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n` +
      `authorization: Bearer sk-bench\r\ncontent-length: ${body.length}\r\n\r\n`,
  );
  const request = new Uint8Array(head.length + body.length);
  request.set(head);
  request.set(body, head.length);
  return request;
}

/**
 * Connects to a loopback port. Reads whole answers into one buffer and looks at them afterwards: the
 * load must cost less than what it measures.
 */
export async function newHttpClient(port: number): Promise<HttpClient> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  connection.setNoDelay(true);
  const buffer = new Uint8Array(MAX_RESPONSE_BYTES);
  let filled = 0;
  let bodyAt = 0;
  let isChunked = false;

  async function more() {
    const count = await connection.read(buffer.subarray(filled));
    if (count === null) throw new Error("The server closed the connection.");
    filled += count;
    if (filled === MAX_RESPONSE_BYTES) throw new Error("An answer is too large for the benchmark.");
  }

  async function exchange(request: Uint8Array): Promise<TimedResponse> {
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
    const declared = /\r\ncontent-length: (\d+)\r\n/.exec(head)?.[1];
    isChunked = declared === undefined;
    while (filled === bodyAt) await more();
    const firstByteMs = performance.now() - began;
    const whole = bodyAt + Number(declared ?? 0);
    while (isChunked ? !hasLastChunk() : filled < whole) await more();
    const totalMs = performance.now() - began;
    const status = Number(head.slice(9, 12));
    const last = decoder.decode(buffer.subarray(isChunked ? filled - 21 : filled - 14, filled));
    return {
      status,
      length: lengthOf(),
      ending: isChunked ? last.slice(0, -7) : last,
      firstByteMs,
      totalMs,
    };
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

  /** Nothing follows the answer before the next request, so its end is the end of what was read. */
  function hasLastChunk(): boolean {
    return filled > 7 && decoder.decode(buffer.subarray(filled - 7, filled)) === "\r\n0\r\n\r\n";
  }

  function lengthOf(): number {
    let length = 0;
    for (const [start, end] of parts()) length += end - start;
    return length;
  }

  function* parts(): Generator<readonly [number, number], void, void> {
    if (!isChunked) return yield [bodyAt, filled];
    for (let at = bodyAt;;) {
      const lineEnd = buffer.indexOf(CR, at);
      const size = sizeOf(at, lineEnd);
      if (size === 0) return;
      yield [lineEnd + 2, lineEnd + 2 + size];
      at = lineEnd + 2 + size + 2;
    }
  }

  /** The hexadecimal number that begins a chunk. */
  function sizeOf(at: number, end: number): number {
    let size = 0;
    for (const digit of buffer.subarray(at, end)) {
      size = size * 16 + (digit <= NINE ? digit - ZERO : (digit | SMALL) - SMALL_A + 10);
    }
    return size;
  }

  return {
    exchange,
    body: () => [...parts()].map((part) => decoder.decode(buffer.subarray(...part))).join(""),
    [Symbol.dispose]: () => connection.close(),
  };
}
