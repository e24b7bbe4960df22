// Until `Deno.serve` bounds the sum of the request heads that it holds, and says how large each is.

import type { World } from "../../core/world.ts";
import type { Sockets, Traffic } from "../sockets.ts";

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

/**
 * Received bytes that may be missing in the sizes of the requests since the last look: clients may
 * write more spaces than the sizes have.
 */
const MAX_UNCOUNTED_BYTES = 8 * 1024;

/**
 * Bytes of a head, or of a request that was not admitted, after which a connection may stay open:
 * the runtime keeps the buffer that they needed.
 */
const MAX_KEPT_BYTES = 32 * 1024;

/** Name and value of a header field. */
type Field = readonly [name: string, value: string];

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
   * until the next look if they are not known.
   */
  requestBytes: number;
  /** Number of its requests, and received bytes, at the last look. */
  lookedRequests: number;
  lookedBytes: number;
  /**
   * The first look at bytes that belong to no request, with the number of requests at that time;
   * null if there were none.
   */
  unfinished: { readonly requests: number; readonly sinceMs: number } | null;
}

/** The state of a connection of which heads are counted. */
interface Counted extends Requested {
  /** Address of the client as `ADDRESS PORT`. */
  readonly key: string;
  /** The descriptor of its socket; null if it is not known. */
  readonly descriptor: number | null;
  /** Number of requests that have arrived. */
  readonly requests: number;
  /** True for HTTP/2, of which nothing is counted. */
  readonly isMultiplexed: boolean;
}

/** Counts one request on a connection. */
export interface CountedRequest {
  /** True if the connection ends after the response for what the runtime keeps of the head. */
  readonly isLast: boolean;
  /** True if it ends after the response to a request that is not admitted, for its body. */
  readonly isLastUnlessAdmitted: boolean;
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
  let found: { readonly connection: Counted; readonly bytes: number }[] = [];
  let sumBytes = 0;

  /** Returns the bytes that the runtime has read of a connection; null if they are not known. */
  function readBytes({ descriptor }: Counted): number | null {
    const traffic = descriptor === null ? null : sockets.traffic(descriptor);
    return descriptor === null || traffic === null
      ? null
      : traffic.receivedBytes - sockets.unreadBytes(descriptor);
  }

  return {
    /**
     * Counts a request that has arrived with these header fields; null if nothing is left to count
     * at its end. `find` looks for the descriptor of the connection.
     */
    count<Some extends Counted>(
      connection: Some,
      request: Request,
      fields: Iterable<Field>,
      find: (connection: Some) => void = () => {},
    ): CountedRequest | null {
      const { headBytes, bodyBytes } = sizeOf(request, fields);
      connection.requestBytes += headBytes + (bodyBytes ?? 0);
      if (bodyBytes !== null && headBytes + bodyBytes <= MAX_KEPT_BYTES) return null;
      if (bodyBytes === null && connection.descriptor === null) find(connection);
      const isLast = !connection.isMultiplexed && headBytes > MAX_KEPT_BYTES;
      const isLastUnlessAdmitted = !connection.isMultiplexed &&
        headBytes + (bodyBytes ?? 0) > MAX_KEPT_BYTES;
      let isAdmitted = false;
      return {
        isLast,
        isLastUnlessAdmitted,
        admitted: () => void (isAdmitted = true),
        ended() {
          if (isAdmitted && bodyBytes === null) {
            connection.requestBytes = readBytes(connection) ?? Infinity;
          }
          return isAdmitted ? isLast : isLastUnlessAdmitted;
        },
      };
    },
    /** Looks at a connection without a request in flight. */
    look(connection: Counted, descriptor: number, { receivedBytes }: Traffic): void {
      const { requests, isMultiplexed, unfinished } = connection;
      const hasRequested = requests !== connection.lookedRequests;
      if (hasRequested) {
        // What had arrived before the last request belongs to it or to earlier ones.
        connection.requestBytes = Math.max(connection.requestBytes, connection.lookedBytes);
      }
      let bytes = isMultiplexed ? 0 : receivedBytes - connection.requestBytes;
      const mayBeCounted = hasRequested && bytes <= MAX_UNCOUNTED_BYTES;
      if (bytes < 0 || mayBeCounted) {
        connection.requestBytes = receivedBytes;
        bytes = 0;
      }
      connection.lookedRequests = requests;
      connection.lookedBytes = receivedBytes;
      // What the runtime has not read may be the body of a request whose head it has read.
      if (bytes > MAX_UNCOUNTED_BYTES) bytes -= sockets.unreadBytes(descriptor);
      if (bytes <= 0) {
        connection.unfinished = null;
        return;
      }
      sumBytes += bytes;
      const isSeen = unfinished?.requests === requests;
      if (!isSeen) connection.unfinished = { requests, sinceMs: now() };
      const isCertain =
        bytes >= MIN_CERTAIN_BYTES && connection.requestBytes <= MAX_EARLIER_BYTES ||
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
function sizeOf({ method, url }: Request, fields: Iterable<Field>): RequestSize {
  // The runtime writes the field `Host`, whatever it has, in front of the path.
  let headBytes = method.length + url.length - "http://".length + "  HTTP/1.1\r\n\r\n".length;
  let bodyBytes: number | null = 0;
  for (const [name, value] of fields) {
    headBytes += name.length + value.length + ": \r\n".length;
    if (isField(name, "host")) headBytes -= value.length;
    else if (isField(name, "transfer-encoding")) bodyBytes = null;
    else if (bodyBytes !== null && isField(name, "content-length")) bodyBytes = Number(value);
  }
  return { headBytes, bodyBytes };
}

function isField(written: string, name: string): boolean {
  return written.length === name.length && written.toLowerCase() === name;
}
