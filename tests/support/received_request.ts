const LF = 10;

/** A request as it came over the socket. */
export interface ReceivedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Names in lower case; of equal names the last counts. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Gives the next bytes, or null when the other side sends no more. */
export type Read = () => Promise<Uint8Array | null>;

/** Reads one HTTP/1.1 request to its end; null when the connection ends before that. */
export async function readRequest(read: Read): Promise<ReceivedRequest | null> {
  const text = new TextDecoder("utf-8", { ignoreBOM: true });
  let buffer = new Uint8Array(1024);
  let length = 0;

  async function until<T>(find: () => T | null): Promise<T | null> {
    for (;;) {
      const found = find();
      if (found !== null) return found;
      const bytes = await read();
      if (bytes === null) return null;
      while (length + bytes.length > buffer.length) {
        const larger = new Uint8Array(2 * buffer.length);
        larger.set(buffer);
        buffer = larger;
      }
      buffer.set(bytes, length);
      length += bytes.length;
    }
  }

  /** Position behind the next CRLF from `from` on; null while it is missing. */
  function lineEnd(from: number): number | null {
    const at = buffer.subarray(0, length).indexOf(LF, from);
    return at < 0 ? null : at + 1;
  }

  let bodyStart = 0;
  const lines: string[] = [];
  for (;;) {
    const end = await until(() => lineEnd(bodyStart));
    if (end === null) return null;
    const line = text.decode(buffer.subarray(bodyStart, end - 2));
    bodyStart = end;
    if (line === "") break;
    lines.push(line);
  }
  const [method = "", path = ""] = (lines.shift() ?? "").split(" ");
  const headers = headersOf(lines);

  async function readChunked(): Promise<Uint8Array | null> {
    let at = bodyStart;
    let bodyEnd = bodyStart;
    for (;;) {
      const start = await until(() => lineEnd(at));
      if (start === null) return null;
      const size = parseInt(text.decode(buffer.subarray(at, start)), 16);
      at = start + size + 2;
      if (await until(() => length >= at || null) === null) return null;
      buffer.copyWithin(bodyEnd, start, start + size);
      bodyEnd += size;
      if (size === 0) return buffer.subarray(bodyStart, bodyEnd);
    }
  }

  async function readLength(): Promise<Uint8Array | null> {
    const bodyEnd = bodyStart + Number(headers["content-length"] ?? 0);
    if (await until(() => length >= bodyEnd || null) === null) return null;
    return buffer.subarray(bodyStart, bodyEnd);
  }

  const body = headers["transfer-encoding"] === "chunked"
    ? await readChunked()
    : await readLength();
  return body === null ? null : { method, path, headers, body: text.decode(body) };
}

function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  }));
}
