import type { Cancellation } from "./cancellation.ts";
import type { HeaderFields } from "./header_fields.ts";
import type { Transport } from "./transport.ts";

/** A request to another server. */
export interface Outgoing {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly headers: HeaderFields;
  /** A list of pieces is sent as one body, without a copy. */
  readonly body: string | Uint8Array<ArrayBuffer> | readonly Uint8Array<ArrayBuffer>[] | null;
  /** Connection policy of the server; the default one when absent. */
  readonly transport?: Transport;
  /**
   * True if the request may be sent again on a new connection after a reused connection failed
   * within a second and before the first byte of the response. False when absent.
   */
  readonly isRepeatable?: boolean;
  /** Called before the request is sent again. */
  onRepeat?(): void;
  /** Cancellation of the request, effective until the last byte of the response body is read. */
  readonly cancellation: Cancellation;
}

/** The response of another server; a `Response` is one. */
export interface Incoming {
  readonly status: number;
  readonly headers: FieldReader;
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | BodySource | null;
}

/** The header fields of a response. Names are lower-case. */
export interface FieldReader extends Iterable<[name: string, value: string]> {
  get(name: string): string | null;
}

/** A response body that is read in pieces. */
export interface BodySource {
  /**
   * Returns the next bytes, valid until the next call; null at the end. Rejects if the response
   * breaks off.
   */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Cancels the rest of the body. */
  cancel(): Promise<void>;
}

/**
 * Clock, randomness and HTTP requests, the only I/O that the core uses. Tests pass a scripted
 * implementation.
 */
export interface World {
  /** Returns monotonic time in milliseconds. */
  now(): number;
  /** Returns Unix time in seconds, for fields such as `created`. */
  unix(): number;
  /** Returns Unix time in milliseconds, to sort records by time. */
  wall(): number;
  /** Returns a uniform random number in [0, 1). */
  random(): number;
  uuid(): string;
  /**
   * Runs the task once, at least `ms` later. Returns a function that cancels it. All timeouts are
   * built on it.
   */
  after(ms: number, task: () => void): () => void;
  /**
   * Sends a request to another server and returns its response; does not follow redirects. Rejects
   * with a `ConnectionError` if there is no response. The request is sent once, with two
   * exceptions: a repeatable request is sent a second time if a reused connection failed within a
   * second and before the first byte of the response, and the runtime may resend a GET without a
   * body through a proxy.
   */
  send(url: string, request: Outgoing): Promise<Incoming>;
}

/** Returns the body of a response as a `BodySource`. */
export function bodySource({ body }: Pick<Incoming, "body">): BodySource | null {
  if (!(body instanceof ReadableStream)) return body;
  const reader = body.getReader();
  return {
    read: async () => (await reader.read()).value ?? null,
    cancel: () => reader.cancel(),
  };
}
