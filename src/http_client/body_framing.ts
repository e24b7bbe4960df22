/**
 * Framing of a response body: extracts the body from the received bytes. Throws if the framing is
 * malformed.
 */
export interface BodyFraming {
  /** Moves the bytes of the body to the front of `bytes`. */
  take(bytes: Uint8Array): Consumed;
  /** True after the end of the body. */
  isOver(): boolean;
  /** False after framing that other parsers refuse: the connection is not reused. */
  isExact(): boolean;
  /** True if the body ends with the connection. */
  readonly endsWithConnection: boolean;
}

/** The result of parsing received bytes. */
export interface Consumed {
  /** Number of body bytes, at the front of the buffer. */
  readonly length: number;
  /** Number of consumed bytes; the rest is passed again together with later bytes. */
  readonly used: number;
}
