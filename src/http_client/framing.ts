import { type BodyFraming, newChunkedFraming } from "./chunked.ts";
import { type Head, parseList } from "./head.ts";

/** Returns the framing of a response body (RFC 9112, 6.3) to any request but HEAD. */
export function newBodyFraming({ status, fields, isPersistent }: Head): BodyFraming {
  if (status === 204 || status === 304) return newLengthFraming(0);
  // The bytes after a 101 response are not HTTP and end with the connection.
  if (status === 101) return newConnectionFraming();
  const written = fields.get("transfer-encoding");
  if (written !== undefined) {
    const codings = new Set(parseList(written));
    const [coding] = codings;
    // Chunked coding came with HTTP/1.1: an HTTP/1.0 server may mean something else by it (RFC
    // 9112, 6.1).
    if (codings.size === 1 && coding === "chunked" && isPersistent) return newChunkedFraming();
    throw new Error("the response has an unknown transfer coding");
  }
  const length = fields.get("content-length");
  return length === undefined ? newConnectionFraming() : newLengthFraming(parseLength(length));
}

/** Limit of the idle timeout that a server's `Keep-Alive` header can set, in milliseconds. */
const MAX_SERVER_KEEP_ALIVE_MS = 60_000;

/**
 * Returns the idle timeout of a connection after the response body; 0 if it must not be reused. A
 * server's `Keep-Alive` timeout less one second wins over the default, so that this side closes
 * first.
 */
export function keepAliveMs({ fields, isReusable }: Head, keepAliveMs: number): number {
  if (keepAliveMs <= 0 || !isReusable) return 0;
  const seconds = /(?:^|[,;\s])timeout=(\d{1,6})/.exec(fields.get("keep-alive") ?? "")?.[1];
  return seconds === undefined
    ? keepAliveMs
    : Math.min(Math.max(MAX_SERVER_KEEP_ALIVE_MS, keepAliveMs), (Number(seconds) - 1) * 1000);
}

const LENGTH = /^\d{1,15}$/;

/** Returns the value of Content-Length; a repeated field must have equal values. */
function parseLength(value: string): number {
  if (LENGTH.test(value)) return Number(value);
  const lengths = new Set(value.split(",").map((one) => one.trim()));
  const [length = ""] = lengths;
  if (lengths.size > 1 || !LENGTH.test(length)) {
    throw new Error("the response has a malformed length");
  }
  return Number(length);
}

function newLengthFraming(length: number): BodyFraming {
  let left = length;
  return {
    take(bytes) {
      const count = Math.min(left, bytes.length);
      left -= count;
      return { length: count, used: count };
    },
    isOver: () => left === 0,
    isExact: () => true,
    endsWithConnection: false,
  };
}

function newConnectionFraming(): BodyFraming {
  return {
    take: ({ length }) => ({ length, used: length }),
    isOver: () => false,
    isExact: () => true,
    endsWithConnection: true,
  };
}
