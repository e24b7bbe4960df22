import { formatDuration } from "../config/units.ts";
import { type Failed, fault, refuse, type Result, success } from "../core/result.ts";
import type { Call } from "../call/call.ts";
import { holdBody } from "./admission/overload.ts";

/** Bytes of a mebibyte, in which limits are written. */
const MIB = 1024 * 1024;

/** Maximum size of a request body, unless its endpoint takes more. */
export const MAX_BODY_BYTES = 10 * MIB;

/** Size of the first buffer. Each further buffer has twice the size of the bytes received. */
const FIRST_BUFFER_BYTES = 16 * 1024;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Reads the body of a request into memory that grows with the bytes received, never by the declared
 * length. Refused as `request_too_large` above `maxBytes`, as `overloaded` above the body memory of the
 * gateway, and as `request_timeout` when no byte arrives for `timeoutMs`; a read of the body is
 * then still pending. `declared` is the content length, which the runtime enforces; null if there
 * is none.
 */
export function receiveBody(
  call: Call,
  body: ReadableStream<Bytes>,
  declared: number | null,
  timeoutMs: number,
  maxBytes: number,
): Promise<Result<Bytes>> {
  const { world } = call;
  const source = newSource(body);
  const length = source.isBounded ? declared : null;
  let buffer = new ArrayBuffer(Math.min(length ?? FIRST_BUFFER_BYTES, FIRST_BUFFER_BYTES));
  let size = 0;
  let progressedAt = world.now();
  let cancelDeadline = world.after(timeoutMs, checkProgress);
  const { promise, resolve } = Promise.withResolvers<Result<Bytes>>();
  readNext();
  return promise;

  // Callbacks instead of a loop that awaits: the timeout ends the wait, and a race for each chunk
  // would cost more than the chunk.
  function readNext() {
    source.read(new Uint8Array(buffer, size)).then(take, leave);
  }

  function take({ done, value }: { readonly done: boolean; readonly value?: Bytes | undefined }) {
    if (value !== undefined) {
      const arrived = value.byteLength;
      if (source.isBounded) buffer = value.buffer;
      else append(value);
      size += arrived;
      if (arrived > 0) progressedAt = world.now();
      const stopped = size > maxBytes ? tooLarge(maxBytes) : holdBody(call, arrived);
      if (stopped !== null) {
        source.cancel();
        return end(stopped);
      }
    }
    if (size === length && !done) source.drain();
    if (done || size === length) return end(success(new Uint8Array(trimmed(), 0, size)));
    if (size === buffer.byteLength) grow(size * 2);
    readNext();
  }

  function append(piece: Bytes) {
    if (size + piece.byteLength > buffer.byteLength) grow((size + piece.byteLength) * 2);
    new Uint8Array(buffer).set(piece, size);
  }

  function grow(bytes: number) {
    buffer = buffer.transfer(Math.min(bytes, length ?? Infinity));
  }

  function trimmed(): ArrayBuffer {
    return size === buffer.byteLength ? buffer : buffer.transfer(size);
  }

  function checkProgress() {
    const idleMs = world.now() - progressedAt;
    if (idleMs < timeoutMs) cancelDeadline = world.after(timeoutMs - idleMs, checkProgress);
    else end(stalled(timeoutMs));
  }

  function leave() {
    end(fault("client_cancelled", "The client left before its request was complete."));
  }

  function end(result: Result<Bytes>) {
    cancelDeadline();
    resolve(result);
  }
}

/** Returns the refusal of a request whose body is above the limit. */
export function tooLarge(maxBytes: number): Failed {
  return refuse(
    "request_too_large",
    `The request body is larger than ${maxBytes / MIB} MiB; send less.`,
  );
}

function stalled(timeoutMs: number): Failed {
  return refuse(
    "request_timeout",
    `No more of the request body came for ${formatDuration(timeoutMs)}; send the request again.`,
  );
}

interface Source {
  /**
   * True if chunks are read into the buffer of the caller, from a body whose length the runtime
   * checks.
   */
  readonly isBounded: boolean;
  read(into: Bytes): Promise<{ readonly done: boolean; readonly value?: Bytes | undefined }>;
  /** Reads the end behind the last byte, without waiting: newer runtimes hold the body open until then. */
  drain(): void;
  cancel(): void;
}

/**
 * Returns a source for a body. Bodies from the listener are byte streams; bodies of requests made
 * inside the gateway are not.
 */
function newSource(body: ReadableStream<Bytes>): Source {
  try {
    const reader = body.getReader({ mode: "byob" });
    return {
      isBounded: true,
      read: (into) => reader.read(into),
      drain: () => void reader.read(new Uint8Array(1)).catch(() => {}),
      cancel: () => void reader.cancel().catch(() => {}),
    };
  } catch {
    const reader = body.getReader();
    return {
      isBounded: false,
      read: () => reader.read(),
      drain: () => void reader.read().catch(() => {}),
      cancel: () => void reader.cancel().catch(() => {}),
    };
  }
}
