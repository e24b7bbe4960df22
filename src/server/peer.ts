/** The client end of a connection; its members are absent for requests that came over none. */
export interface Peer {
  readonly remoteAddr?: Deno.Addr;
  /**
   * Ends the connection once the response in flight has reached the client, or could not for 5 s.
   * Absent where the sockets of the process cannot be reached.
   */
  readonly disconnect?: () => void;
  /**
   * Keeps the connection, which has become a WebSocket, and calls `onTooLarge` once when an unfinished
   * message grows beyond its limit; shortly after that the connection ends. Absent like `disconnect`.
   */
  readonly watchMessages?: (onTooLarge: () => void) => MessageWatch;
}

/** The supervision of a WebSocket. */
export interface MessageWatch {
  /** A whole message has arrived. */
  arrived(): void;
  /** The socket is closed. */
  end(): void;
}
