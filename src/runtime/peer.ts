// Until `Deno.serve` gives the client's connection with each request.

import type { FieldList } from "../core/header_fields.ts";

/** The body of a request. */
export interface ReceivedBody {
  /** Bytes of it that have arrived, without the framing of chunks. */
  readonly bodyBytes: number;
  /** True once it has arrived as a whole. */
  readonly bodyHasEnded: boolean;
}

/** The part of a peer that is of one request on its connection. */
export interface PeerRequest {
  /**
   * The header fields of the request, in the order in which they arrived; null if the runtime has
   * no list of them. It makes a new one at each look.
   */
  readonly fields?: FieldList | null;
  /**
   * Calls the task once the response of the request was passed to the network, or its connection
   * has ended. Absent if `disconnect` is.
   */
  readonly whenTaken?: (task: () => void) => void;
  /**
   * The request was admitted, with the body that arrives. Without this the bytes of a body in
   * chunks are not known from those of a next request. Absent if `disconnect` is.
   */
  readonly admitted?: (body: ReceivedBody) => void;
  /**
   * True if the connection ends after the response, which begins now, for the size of the head or
   * for much framing of a body in chunks; it ends without this if the body is not read. Absent if
   * `disconnect` is.
   */
  readonly isLast?: () => boolean;
  /** Settles when the runtime has sent the response of the request, or could not. */
  readonly completed?: Promise<void>;
  /**
   * Resolves when the connection is found among the sockets of the process, or a search of all has
   * not found it; false if too many sockets have its remote end to find that of a WebSocket among
   * them. Absent if `disconnect` is.
   */
  readonly located?: () => Promise<boolean>;
  /**
   * Keeps the connection open as a WebSocket and calls `onCheck` with its unfinished message again
   * and again. `headBytes` is the least size of its handshake. Absent if `disconnect` is.
   */
  readonly watchMessages?: (
    headBytes: number,
    onCheck: (unfinished: UnfinishedMessage) => void,
  ) => MessageWatch;
}

/** The client end of a connection. Requests without a connection have none of its members. */
export interface Peer extends PeerRequest {
  readonly remoteAddr?: Deno.Addr;
  /**
   * Ends the connection once the response in flight has reached the client, or after 5 s. Absent if
   * the sockets of the process are not accessible.
   */
  readonly disconnect?: () => void;
  /**
   * True if the connection is of HTTP/2 or has another request in flight. Absent if `disconnect`
   * is.
   */
  readonly isShared?: () => boolean;
  /**
   * True if bytes of the connection wait in the system, as far as is known. Absent if `disconnect`
   * is.
   */
  readonly waitsInSystem?: () => boolean;
  /** Ends the connection at once, with the responses in flight. Absent if `disconnect` is. */
  readonly abort?: () => void;
}

/** Bytes of a WebSocket since its last whole message. */
export interface UnfinishedMessage {
  /** Bytes, with the heads of frames, pings and pongs. */
  readonly bytes: number;
  /** True if these are more than pings and pongs may have. */
  readonly isMessage: boolean;
  /** True if the client sends more pings, pongs or empty fragments than it may. */
  readonly isFlood?: true;
  /** True if it is not known which socket has them, so that nothing more is reported. */
  readonly isUnknown?: true;
}

/** Watches the unfinished messages of a WebSocket. */
export interface MessageWatch {
  /** Counts from here on, because a whole message of this size has arrived. */
  arrived(messageBytes: number): void;
  /** A message of this size was sent: what the client receives besides are replies to its pings. */
  sent(messageBytes: number): void;
  /** Ends the connection at once; none while it is not known which socket it has. */
  abort(): void;
  /** Stops watching, because the socket is closed. */
  end(): void;
}
