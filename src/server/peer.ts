/** The client end of a connection. Requests without a connection have none of its members. */
export interface Peer {
  readonly remoteAddr?: Deno.Addr;
  /**
   * Ends the connection once the response in flight has reached the client, or after 5 s. Absent if
   * the sockets of the process are not accessible.
   */
  readonly disconnect?: () => void;
  /**
   * Calls the task once the response of the request was passed to the network, or its connection has ended.
   * Absent if `disconnect` is.
   */
  readonly whenTaken?: (task: () => void) => void;
  /** Settles when the runtime has sent the response of the request, or could not. */
  readonly completed?: Promise<void>;
  /** True if the connection is of HTTP/2 or has another request in flight. Absent if `disconnect` is. */
  readonly isShared?: () => boolean;
  /** True if bytes of the connection wait in the system, as far as is known. Absent if `disconnect` is. */
  readonly waitsInSystem?: () => boolean;
  /** Ends the connection at once, with the responses in flight. Absent if `disconnect` is. */
  readonly abort?: () => void;
  /**
   * Keeps the connection open as a WebSocket. Calls `onTooLarge` once when an unfinished message
   * exceeds its limit; shortly after that the connection ends. Absent if `disconnect` is.
   */
  readonly watchMessages?: (onTooLarge: () => void) => MessageWatch;
}

/** Watches the size of unfinished messages on a WebSocket. */
export interface MessageWatch {
  /** Resets the size, because a whole message has arrived. */
  arrived(): void;
  /** Stops watching, because the socket is closed. */
  end(): void;
}
