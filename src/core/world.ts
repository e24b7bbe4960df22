import type { Cancellation } from "./cancellation.ts";
import type { HeaderFields } from "./reply.ts";
import type { Transport } from "./transport.ts";

/** A request to another server. */
export interface Outgoing {
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: HeaderFields;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  /** Connection policy of the server; the default one when absent. */
  readonly transport?: Transport;
  /**
   * True if the request may be written once more, on a new connection, when a reused one failed before
   * any byte of the response. False when absent.
   */
  readonly isRepeatable?: boolean;
  /** Runs when the request is about to be written once more. */
  onRepeat?(): void;
  /** Cancels the request, until the last byte of the response body is read. */
  readonly cancellation: Cancellation;
}

/** The answer of another server; a `Response` is one. */
export interface Incoming {
  readonly status: number;
  readonly headers: FieldReader;
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | BodySource | null;
}

/** The header fields of an answer. Names are lower-case. */
export interface FieldReader extends Iterable<[name: string, value: string]> {
  get(name: string): string | null;
}

/** A body that is read piece by piece. */
export interface BodySource {
  /** The next bytes, good until the next call; null at the end. Rejects when the answer breaks off. */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
  /** The rest is not wanted. */
  cancel(): Promise<void>;
}

/** The outside, as far as the core may touch it. Tests pass a scripted one. */
export interface World {
  /** Milliseconds, never goes back. */
  now(): number;
  /** Seconds since 1970, for `created` and the like. */
  unix(): number;
  /** Milliseconds since 1970, for what is put in order by its time. */
  wall(): number;
  /** Uniform in [0, 1). */
  random(): number;
  uuid(): string;
  /** Runs the task once, at least `ms` later; the result cancels. Every wait and deadline is built on it. */
  after(ms: number, task: () => void): () => void;
  /**
   * Sends a request to another server and returns its response; follows no redirect. Rejects with a
   * `ConnectionError` when there is no response. The request is written once. Only one that is
   * repeatable is written a second time, when a reused connection failed before any byte of the
   * response, and a GET without a body through a proxy, by the runtime.
   */
  send(url: string, request: Outgoing): Promise<Incoming>;
}
