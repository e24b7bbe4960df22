// Until `Deno.serve` bounds the sum of the request heads that it holds, and says how large each is.

import type { World } from "../../core/world.ts";
import { listenerFields } from "../listener_request.ts";
import type { Sockets, Traffic } from "../sockets.ts";
import type { Connection } from "./connection.ts";

/**
 * Bytes of unfinished request heads of all connections together; the runtime holds up to twice as
 * many for them, and bounds only each, to 400 KB.
 */
const MAX_SUM_BYTES = 64 * 1024 * 1024;

/** Time for a whole head to get from the runtime to the gateway. */
const MIN_UNFINISHED_MS = 50;

/**
 * Bytes of a head that is unfinished without a second look, if all requests of its connection
 * together had at most the second number: the runtime reads a whole head before it has as many. It
 * reads more at once on a connection that has brought more.
 */
const MIN_CERTAIN_BYTES = 256 * 1024, MAX_EARLIER_BYTES = 64 * 1024;

/** Received bytes that are not compared with the size of a request: they would hide few. */
const MAX_SMALL_BYTES = 8 * 1024;

/**
 * Bytes of a head, or of a request that was not admitted, after which a connection may stay open:
 * the runtime keeps the buffer that they needed.
 */
const MAX_KEPT_BYTES = 32 * 1024;

/** Bytes of a request as clients write it. */
interface RequestSize {
  readonly headBytes: number;
  /** Null if the body comes in chunks. */
  readonly bodyBytes: number | null;
}

/** Received bytes of a connection that belong to requests, and the first look at others. */
export interface Requested {
  /**
   * Bytes of the requests that have arrived, with those of bodies that may still come; `Infinity`
   * if they are not known.
   */
  requestBytes: number;
  /**
   * The first look at bytes that belong to no request, with the number of requests at that time;
   * null if there were none.
   */
  unfinished: { readonly requests: number; readonly sinceMs: number } | null;
}

/** Counts one request on a connection. */
export interface CountedRequest {
  /** The request was admitted, so that its body belongs to it however it is framed. */
  admitted(): void;
  /** Its response has ended. True if the connection ends for what the runtime keeps of it. */
  ended(): boolean;
}

/**
 * Returns a register of the bytes that connections have sent toward requests whose heads are not
 * whole. Beyond their bound it ends the connections with most of them.
 */
export function newUnfinishedHeads(
  sockets: Pick<Sockets, "traffic" | "unreadBytes" | "remote" | "abort">,
  { now }: Pick<World, "now">,
) {
  let found: { readonly connection: Connection; readonly bytes: number }[] = [];
  let sumBytes = 0;

  function receivedBytes({ descriptor }: Connection): number | null {
    return descriptor === null ? null : sockets.traffic(descriptor)?.receivedBytes ?? null;
  }

  return {
    /** Counts a request that has arrived; null if it is a small one without a body. */
    count(connection: Connection, request: Request): CountedRequest | null {
      const received = receivedBytes(connection);
      if (received !== null && received < connection.requestBytes) {
        // A client may have come back from the port of a connection that was closed.
        connection.requestBytes = Number.isFinite(connection.requestBytes) ? 0 : received;
      }
      const isSmall = received !== null && received - connection.requestBytes <= MAX_SMALL_BYTES;
      if (isSmall && (request.method === "GET" || request.method === "HEAD")) {
        connection.requestBytes = received;
        return null;
      }
      const { headBytes, bodyBytes } = sizeOf(request);
      const requestBytes = connection.requestBytes + headBytes + (bodyBytes ?? 0);
      connection.requestBytes = isSmall ? Math.max(received, requestBytes) : requestBytes;
      let isAdmitted = false;
      return {
        admitted: () => void (isAdmitted = true),
        ended() {
          if (isAdmitted && bodyBytes === null) {
            connection.requestBytes = receivedBytes(connection) ?? Infinity;
          }
          const keptBytes = headBytes + (isAdmitted ? 0 : bodyBytes ?? 0);
          return keptBytes > MAX_KEPT_BYTES;
        },
      };
    },
    /** Looks at a connection without a request in flight. */
    look(connection: Connection, descriptor: number, { receivedBytes }: Traffic): void {
      const { requests, requestBytes, isMultiplexed, unfinished } = connection;
      let bytes = isMultiplexed ? 0 : receivedBytes - requestBytes;
      // What the runtime has not read may be the body of a request whose head it has read.
      if (bytes > MAX_SMALL_BYTES) bytes -= sockets.unreadBytes(descriptor);
      if (bytes <= 0) {
        connection.unfinished = null;
        return;
      }
      sumBytes += bytes;
      const isSeen = unfinished?.requests === requests;
      if (!isSeen) connection.unfinished = { requests, sinceMs: now() };
      const isCertain = bytes >= MIN_CERTAIN_BYTES && requestBytes <= MAX_EARLIER_BYTES ||
        isSeen && now() - unfinished.sinceMs >= MIN_UNFINISHED_MS;
      if (isCertain) found.push({ connection, bytes });
    },
    /**
     * Ends connections after a look at all of them. False if there may be more to end: heads of
     * which it is not known yet that they are unfinished.
     */
    end(): boolean {
      let restBytes = found.reduce((sum, { bytes }) => sum + bytes, 0);
      const isCertain = sumBytes - restBytes <= MAX_SUM_BYTES / 2;
      if (restBytes > MAX_SUM_BYTES) found.sort((one, other) => other.bytes - one.bytes);
      for (const { connection: { key, descriptor, requests, unfinished }, bytes } of found) {
        if (restBytes <= MAX_SUM_BYTES) break;
        restBytes -= bytes;
        const isStill = unfinished?.requests === requests && descriptor !== null &&
          sockets.remote(descriptor) === key;
        if (isStill) sockets.abort(descriptor);
      }
      found = [];
      sumBytes = 0;
      return isCertain;
    },
  };
}

/** Returns the size of a request, by its header fields. */
function sizeOf(request: Request): RequestSize {
  const { method, url } = request;
  const path = url.slice(url.indexOf("/", "https://".length));
  let headBytes = `${method} ${path} HTTP/1.1\r\n\r\n`.length;
  let bodyBytes = 0, isChunked = false;
  for (const [name, value] of listenerFields(request) ?? request.headers) {
    headBytes += name.length + value.length + ": \r\n".length;
    if (isField(name, "content-length")) bodyBytes = Number(value);
    if (isField(name, "transfer-encoding")) isChunked = true;
  }
  return { headBytes, bodyBytes: isChunked ? null : bodyBytes };
}

function isField(written: string, name: string): boolean {
  return written.length === name.length && written.toLowerCase() === name;
}
