import { formatDuration } from "../config/units.ts";
import { type Failed, fault, refuse, type Result, success } from "../core/result.ts";
import type { Call } from "../call/call.ts";
import { holdBody } from "./admission/overload.ts";

/** A request body may have this many bytes. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Bytes of the first buffer; each further one is twice the size of what has arrived. */
const FIRST_BUFFER_BYTES = 16 * 1024;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Reads the body of a request into memory that grows with what has arrived, never by the declared
 * length. Refused as `request_too_large` beyond 10 MiB, as `overloaded` beyond the body memory of the
 * gateway, and as `request_timeout` when no byte comes for `timeoutMs`; a read of the body is then
 * still pending. `declared` is the length that the runtime keeps the body to; null if there is none.
 */
export function receiveBody(
  call: Call,
  body: ReadableStream<Bytes>,
  declared: number | null,
  timeoutMs: number,
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

  // Not a loop that awaits: the deadline ends the wait, and a race for each piece would cost more than the piece.
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
      const stopped = size > MAX_BODY_BYTES ? tooLarge() : holdBody(call, arrived);
      if (stopped !== null) {
        source.cancel();
        return end(stopped);
      }
    }
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

/** Refuses a request whose body is larger than the gateway takes. */
export function tooLarge(): Failed {
  return refuse("request_too_large", "The request body is larger than 10 MiB; send less.");
}

function stalled(timeoutMs: number): Failed {
  return refuse(
    "request_timeout",
    `No more of the request body came for ${formatDuration(timeoutMs)}; send the request again.`,
  );
}

interface Source {
  /** True if pieces are read into the buffer that is given, from a body whose length the runtime checks. */
  readonly isBounded: boolean;
  read(into: Bytes): Promise<{ readonly done: boolean; readonly value?: Bytes | undefined }>;
  cancel(): void;
}

/** Requests of the listener are byte streams; those that the gateway makes itself are not. */
function newSource(body: ReadableStream<Bytes>): Source {
  try {
    const reader = body.getReader({ mode: "byob" });
    return {
      isBounded: true,
      read: (into) => reader.read(into),
      cancel: () => void reader.cancel().catch(() => {}),
    };
  } catch {
    const reader = body.getReader();
    return {
      isBounded: false,
      read: () => reader.read(),
      cancel: () => void reader.cancel().catch(() => {}),
    };
  }
}
