/** An answer of an odd server, and what the client has to make of it. */
export interface Vector {
  /** Name of the oddity. */
  readonly name: string;
  /** The bytes up to the end of the connection, one for each character. */
  readonly bytes: string;
  readonly expected: Expected;
}

/**
 * Expected reading of an answer: it is invalid, or it is read and its connection is kept or closed.
 */
export type Expected =
  | { readonly kind: "refused" }
  | {
    readonly kind: "read";
    readonly status: number;
    readonly body: string;
    readonly fate: "kept" | "closed";
  };

/** A status line with which most of these answers begin. */
export const OK = "HTTP/1.1 200 OK\r\n";

/** Framing and bytes of a body of five bytes. */
export const HELLO = "content-length: 5\r\n\r\nhello";

/** Returns the vector of an answer that is malformed. */
export function refused(name: string, bytes: string): Vector {
  return { name, bytes, expected: { kind: "refused" } };
}

/** Returns the vector of an answer after which the connection is used again. */
export function kept(name: string, bytes: string, body = "hello", status = 200): Vector {
  return { name, bytes, expected: { kind: "read", status, body, fate: "kept" } };
}

/** Returns the vector of an answer that is read, and whose connection is closed. */
export function closed(name: string, bytes: string, body = "hello", status = 200): Vector {
  return { name, bytes, expected: { kind: "read", status, body, fate: "closed" } };
}
