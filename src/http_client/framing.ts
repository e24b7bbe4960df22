import type { BodyFraming } from "./body_framing.ts";
import { newChunkedFraming } from "./chunked.ts";
import { type Head, parseList } from "./head.ts";

/** How the body of an answer is framed (RFC 9112, 6.3); the request was no HEAD. */
export function newBodyFraming({ status, fields, isPersistent }: Head): BodyFraming {
  if (status === 204 || status === 304) return newLengthFraming(0);
  // What follows is no HTTP, and nothing can come after it.
  if (status === 101) return newConnectionFraming();
  const written = fields.get("transfer-encoding");
  if (written !== undefined) {
    const codings = new Set(parseList(written));
    const [coding] = codings;
    // It came with HTTP/1.1: whoever says it in HTTP/1.0 may mean something else (RFC 9112, 6.1).
    if (codings.size === 1 && coding === "chunked" && isPersistent) return newChunkedFraming();
    throw new Error("the answer has an unknown transfer coding");
  }
  const length = fields.get("content-length");
  return length === undefined ? newConnectionFraming() : newLengthFraming(parseLength(length));
}

/** Longest idle time in milliseconds that a server's own word for it gives a connection. */
const MAX_SERVER_KEEP_ALIVE_MS = 60_000;

/**
 * Returns the milliseconds for which a connection may be idle once the body has ended; 0 when it cannot
 * be used again. A server's `Keep-Alive` wins over the given time, less a second: it is to close first.
 */
export function keepAliveMs({ fields, isReusable }: Head, keepAliveMs: number): number {
  if (keepAliveMs <= 0 || !isReusable) return 0;
  const seconds = /(?:^|[,;\s])timeout=(\d{1,6})/.exec(fields.get("keep-alive") ?? "")?.[1];
  return seconds === undefined
    ? keepAliveMs
    : Math.min(Math.max(MAX_SERVER_KEEP_ALIVE_MS, keepAliveMs), (Number(seconds) - 1) * 1000);
}

/** Sent twice it still has to be one. */
function parseLength(value: string): number {
  const lengths = new Set(value.split(",").map((one) => one.trim()));
  const [length = ""] = lengths;
  if (lengths.size > 1 || !/^\d{1,15}$/.test(length)) {
    throw new Error("the answer has a malformed length");
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
