// Until `Deno.serve` bounds the sum of the request heads that it holds, and says how large each is.

import { Buffer } from "node:buffer";
import type { World } from "../../core/world.ts";
import type { ReceivedBody } from "../peer.ts";
import { type FoundSocket, openDescriptor, type Sockets, type Traffic } from "../sockets.ts";

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
 * Received bytes that may be missing in the sizes of the requests since the last look, and further
 * ones for each request: clients may write more spaces than the sizes have, and chunks have heads.
 */
const MAX_UNCOUNTED_BYTES = 8 * 1024, MAX_UNCOUNTED_REQUEST_BYTES = 64;

/**
 * Bytes of a head, or of a request that was not admitted, after which a connection may stay open:
 * the runtime keeps the buffer that they needed.
 */
const MAX_KEPT_BYTES = 32 * 1024;

/**
 * Bytes that a body counts as at most, and one in chunks until it has ended: a client may declare
 * more than sums are exact for.
 */
const MAX_BODY_BYTES = 64 * 1024 ** 3;

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
   * Bytes of the requests in flight, with those of bodies that may still come. Sockets with one
   * remote end have them together, because any may have the requests.
   */
  pendingBytes: number;
  /**
   * Bytes of all requests whose responses were sent, without the framing of bodies in chunks. Each
   * counts for every socket with its remote end to which was written meanwhile: it is not known on
   * which of several it was, and a body must never be taken for a head.
   */
  requestBytes: number;
  /** Bytes of the socket that belong to requests, as of the last look. */
  countedBytes: number;
  /** Those of `requestBytes` that are in `countedBytes`, or were before its socket was known. */
  settledBytes: number;
  /** Bytes that were written to the socket, as of the last look. */
  lookedWrittenBytes: number;
  /** True if a response was written to it at the last look, whose end may be known since. */
  wasAnswered: boolean;
  /**
   * Number of its requests at the last look at which none was in flight, or a head was unfinished;
   * null before the first look at a socket that is not the first one from its port.
   */
  lookedRequests: number | null;
  /**
   * The first look at bytes that belong to no request, with the number of requests at that time;
   * null if there were none.
   */
  unfinished: { readonly requests: number; readonly sinceMs: number } | null;
}

/** Returns the counts of a connection on which nothing has arrived. */
export function newRequested(): Requested {
  return {
    pendingBytes: 0,
    requestBytes: 0,
    countedBytes: 0,
    settledBytes: 0,
    lookedWrittenBytes: 0,
    wasAnswered: false,
    lookedRequests: 0,
    unfinished: null,
  };
}

/** The state of a connection of which heads are counted. */
interface Counted extends Requested, FoundSocket {
  /** Number of requests that have arrived. */
  readonly requests: number;
  /** True for HTTP/2, of which nothing is counted. */
  readonly isMultiplexed: boolean;
  /** True for an open WebSocket, whose frames are no heads. */
  readonly isWatched: boolean;
}

/** Counts one request on a connection. */
export interface CountedRequest {
  /**
   * True if the connection ends after the response, which begins now: for what the runtime keeps of
   * the head, or for the framing of a body in chunks that has ended. It would be taken for heads,
   * and only now all of it that was read is framing. A body that is not read is no matter of this:
   * its response says that in any case. `find` looks for the descriptor of the connection.
   */
  isLast(find: () => void): boolean;
  /** The request was admitted. Of a body in chunks counts what has arrived at its end. */
  admitted(body: ReceivedBody): void;
  /**
   * Its response has ended, and was sent or not. True if the connection ends for what the runtime
   * keeps of the head, and of a body that was not admitted, or for the framing: not every runtime
   * ends one of which only the response says so.
   */
  ended(isSent: boolean): boolean;
}

/** Bytes of unfinished heads, by connection. */
export type UnfinishedHeads = ReturnType<typeof newUnfinishedHeads>;

/**
 * Returns a register of the bytes that connections have sent toward requests whose heads are not
 * whole. Beyond their bound it ends the connections with most of them.
 */
export function newUnfinishedHeads(
  sockets: Pick<Sockets, "traffic" | "unreadBytes" | "identity" | "abort">,
  { now }: Pick<World, "now">,
) {
  let found: {
    readonly connection: Counted;
    /** Number of its requests. */
    readonly requests: number;
    /** The socket; that of the connection may be another one by the end of the sweep. */
    readonly at: FoundSocket;
    readonly bytes: number;
  }[] = [];
  let sumBytes = 0;

  /** Returns the bytes that the runtime has read of a connection; 0 if its socket is not known. */
  function readBytes(connection: Counted): number {
    const descriptor = openDescriptor(sockets, connection);
    if (descriptor === null) return 0;
    return (sockets.traffic(descriptor)?.receivedBytes ?? 0) - sockets.unreadBytes(descriptor);
  }

  return {
    /** Counts a request that has arrived with these header fields. */
    count(connection: Counted, request: Request, fields: Iterable<Field>): CountedRequest {
      const { headBytes, bodyBytes } = sizeOf(request, fields);
      const pendingBytes = headBytes + (bodyBytes ?? MAX_BODY_BYTES);
      connection.pendingBytes += pendingBytes;
      const { isMultiplexed } = connection;
      let body: ReceivedBody | null = null;
      let hasMuchFraming = false;
      return {
        isLast(find) {
          if (isMultiplexed) return false;
          if (headBytes > MAX_KEPT_BYTES) return true;
          if (bodyBytes !== null || body?.bodyHasEnded !== true) return false;
          find();
          const { countedBytes, requestBytes, settledBytes } = connection;
          const framingBytes = readBytes(connection) - countedBytes -
            (requestBytes - settledBytes) - headBytes - body.bodyBytes;
          return hasMuchFraming = framingBytes > maxUncountedBytes(connection);
        },
        admitted: (received) => void (body = received),
        ended(isSent) {
          connection.pendingBytes -= pendingBytes;
          // Else its socket has closed, and its client may be back from its port.
          if (!isSent) return false;
          connection.requestBytes += headBytes + (bodyBytes ?? body?.bodyBytes ?? 0);
          const keptBytes = headBytes + (body !== null ? 0 : bodyBytes ?? Infinity);
          return hasMuchFraming || !isMultiplexed && keptBytes > MAX_KEPT_BYTES;
        },
      };
    },
    /**
     * Begins the count of a socket that is not the first one from its port. What was requested on
     * it may be taken for heads, but no head for what was requested on one that has closed.
     */
    begin(connection: Counted): void {
      connection.countedBytes = 0;
      connection.settledBytes = connection.requestBytes;
      connection.lookedWrittenBytes = 0;
      connection.wasAnswered = false;
      connection.lookedRequests = null;
      connection.unfinished = null;
    },
    /**
     * Looks at a connection without a request in flight that is known to be of its socket, or at
     * one of several open sockets with its remote end, of which any may have the requests.
     */
    look(
      connection: Counted,
      { receivedBytes, writtenBytes, unsentBytes }: Traffic,
      { isAlone }: { readonly isAlone: boolean },
    ): void {
      const { descriptor, socket, requests, lookedRequests, unfinished } = connection;
      if (descriptor === null) return;
      // A request that has ended is on a socket that was written to.
      const isAnswered = writtenBytes > connection.lookedWrittenBytes || unsentBytes > 0;
      const mayHaveEnded = isAnswered || connection.wasAnswered;
      connection.lookedWrittenBytes = writtenBytes;
      connection.wasAnswered = isAnswered;
      if (mayHaveEnded) {
        connection.countedBytes += connection.requestBytes - connection.settledBytes;
        connection.settledBytes = connection.requestBytes;
      }
      const pendingBytes = lookedRequests === null ? 0 : connection.pendingBytes;
      const isUncounted = connection.isMultiplexed || connection.isWatched;
      let bytes = isUncounted ? 0 : receivedBytes - connection.countedBytes - pendingBytes;
      // Behind a response that waits for its client, requests wait too, and heads behind them.
      const mayBeCounted = (mayHaveEnded || pendingBytes > 0) && newRequestsOf(connection) > 0 &&
        unsentBytes === 0 && bytes <= maxUncountedBytes(connection);
      if (mayBeCounted) bytes = 0;
      // What arrives during a request counts at its end: it may be a head on another socket.
      const isSettled = bytes <= 0 && pendingBytes === 0;
      if (isSettled || connection.countedBytes > receivedBytes) {
        connection.countedBytes = receivedBytes;
      }
      if (isSettled || bytes > 0) connection.lookedRequests = requests;
      // What the runtime has not read may be the body of a request whose head it has read.
      if (bytes > MAX_UNCOUNTED_BYTES) bytes -= sockets.unreadBytes(descriptor);
      if (bytes <= 0) {
        connection.unfinished = null;
        return;
      }
      sumBytes += bytes;
      // A request is no sign that a head is whole if it may be one on another socket.
      const isSeen = unfinished !== null && (unfinished.requests === requests || !isAlone);
      if (!isSeen) connection.unfinished = { requests, sinceMs: now() };
      const isCertain = lookedRequests === null ||
        bytes >= MIN_CERTAIN_BYTES &&
          connection.countedBytes + pendingBytes <= MAX_EARLIER_BYTES ||
        isSeen && now() - unfinished.sinceMs >= MIN_UNFINISHED_MS;
      if (isCertain) found.push({ connection, requests, at: { descriptor, socket }, bytes });
    },
    /**
     * Ends connections after a look at all of them. False if there may be more to end: heads of
     * which it is not known yet that they are unfinished.
     */
    end(): boolean {
      let restBytes = found.reduce((sum, { bytes }) => sum + bytes, 0);
      const isCertain = sumBytes - restBytes <= MAX_SUM_BYTES / 2;
      if (restBytes > MAX_SUM_BYTES) found.sort((one, other) => other.bytes - one.bytes);
      for (const { connection, requests, at, bytes } of found) {
        if (restBytes <= MAX_SUM_BYTES) break;
        restBytes -= bytes;
        const isStill = connection.requests === requests;
        const descriptor = isStill ? openDescriptor(sockets, at) : null;
        if (descriptor !== null) sockets.abort(descriptor);
      }
      found = [];
      sumBytes = 0;
      return isCertain;
    },
  };
}

/** Returns the number of requests since the last look, as far as they are of the same socket. */
function newRequestsOf({ requests, lookedRequests }: Counted): number {
  return lookedRequests === null ? 0 : requests - lookedRequests;
}

/** Returns the received bytes that may be missing in the sizes of these requests. */
function maxUncountedBytes(connection: Counted): number {
  return MAX_UNCOUNTED_BYTES + newRequestsOf(connection) * MAX_UNCOUNTED_REQUEST_BYTES;
}

/** Returns the size of a request, by its header fields. */
function sizeOf({ method, url }: Request, fields: Iterable<Field>): RequestSize {
  // The runtime writes the field `Host`, whatever it has, in front of the path.
  let headBytes = method.length + Buffer.byteLength(url) - "http://".length +
    "  HTTP/1.1\r\n\r\n".length;
  let bodyBytes: number | null = 0;
  for (const [name, value] of fields) {
    headBytes += name.length + value.length + ": \r\n".length;
    if (isField(name, "host")) headBytes -= value.length;
    else if (isField(name, "transfer-encoding")) bodyBytes = null;
    else if (bodyBytes !== null && isField(name, "content-length")) {
      bodyBytes = Math.min(Number(value), MAX_BODY_BYTES);
    }
  }
  return { headBytes, bodyBytes };
}

function isField(written: string, name: string): boolean {
  return written.length === name.length && written.toLowerCase() === name;
}
