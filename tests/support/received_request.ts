import { Buffer } from "node:buffer";

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
  // Latin-1 keeps one character for each byte, so that lengths and places are those of the bytes.
  let text = "";

  async function until(isEnough: () => boolean): Promise<boolean> {
    while (!isEnough()) {
      const bytes = await read();
      if (bytes === null) return false;
      text += Buffer.from(bytes).toString("latin1");
    }
    return true;
  }

  if (!await until(() => text.includes("\r\n\r\n"))) return null;
  const bodyStart = text.indexOf("\r\n\r\n") + 4;
  const [requestLine = "", ...lines] = text.slice(0, bodyStart - 4).split("\r\n");
  const [method = "", path = ""] = requestLine.split(" ");
  const headers = headersOf(lines);
  const isChunked = headers["transfer-encoding"] === "chunked";
  const bodyEnd = bodyStart + Number(headers["content-length"] ?? 0);
  const isWhole = await until(() =>
    isChunked ? unchunked(text, bodyStart) !== null : text.length >= bodyEnd
  );
  if (!isWhole) return null;
  const body = isChunked ? unchunked(text, bodyStart) ?? "" : text.slice(bodyStart, bodyEnd);
  return { method, path, headers, body: Buffer.from(body, "latin1").toString() };
}

function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  }));
}

/** The body behind its chunk sizes; null while its end is missing. */
function unchunked(text: string, start: number): string | null {
  let body = "";
  let at = start;
  for (;;) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd < 0) return null;
    const size = parseInt(text.slice(at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (text.length < next) return null;
    if (size === 0) return body;
    body += text.slice(lineEnd + 2, next - 2);
    at = next;
  }
}
