/** Framing of a response body: finds its bytes in what is received. Throws if the framing is malformed. */
export interface BodyFraming {
  /** Moves the bytes of the body to the front of those given. */
  take(bytes: Uint8Array): Consumed;
  /** The body has ended. */
  isOver(): boolean;
  /** False once framing was read that other parsers refuse: the connection is not used again. */
  isExact(): boolean;
  /** The end of the connection is the end of the body. */
  readonly endsWithConnection: boolean;
}

/** The part of the received bytes that was read. */
export interface Consumed {
  /** Bytes of the body, at the front. */
  readonly length: number;
  /** Bytes that are done with; the rest is to be given again, with more behind it. */
  readonly used: number;
}
