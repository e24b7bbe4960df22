import { formatDuration } from "../config/units.ts";
import {
  cancelled,
  type Failed,
  fault,
  refuse,
  type Result,
  success,
} from "../core/failure/result.ts";
import type { Call } from "../call/call.ts";
import { type BodyStorage, newBlocks, newOneBuffer } from "./body_storage.ts";
import { MIN_CALLS } from "../traffic/loop_turns.ts";
import { holdBody, refuseOverloaded } from "../traffic/call_memory.ts";

/** Bytes of a mebibyte, in which limits are written. */
const MIB = 1024 * 1024;

/** Maximum size of a request body, unless its endpoint takes more. */
export const MAX_BODY_BYTES = 10 * MIB;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Reads the body of a request into one buffer that grows with the bytes received, never by the
 * declared length. Refused as `request_too_large` above `maxBytes`, as `overloaded` above the body
 * memory of the gateway; the rest of the body may then be read by others. Refused as
 * `request_timeout` when it is not complete and brings less than `MIN_PROGRESS_BYTES` in
 * `timeoutMs`. Unless many calls are in flight, the first `MAX_BEGINNING_BYTES` are read without
 * turns of the event loop, else those of `MAX_SMALL_BODY_BYTES` in one for `MAX_SMALL_READS`; tiny
 * chunks have turns in any case. The system holds the rest back. `declared` is the content length,
 * which the runtime enforces.
 */
export async function receiveBody(
  call: Call,
  body: ReadableStream<Bytes>,
  declared: number | null,
  timeoutMs: number,
  maxBytes: number,
): Promise<Result<Bytes>> {
  const receiving = { declared, timeoutMs, maxBytes, storage: newOneBuffer(declared) };
  const received = await receiveInto(call, body, receiving);
  return received.ok ? success(received.value[0] ?? new Uint8Array()) : received;
}

/**
 * Reads the body of a request like `receiveBody`, into blocks that are never copied: a buffer that
 * grows would need twice the memory of a large body. They are freed when the call is released.
 * `onBytes` is called with the bytes as they arrive, and may refuse the request.
 */
export function receiveBlocks(
  call: Call,
  body: ReadableStream<Bytes>,
  limits: Pick<Receiving, "declared" | "timeoutMs" | "maxBytes">,
  onBytes: (bytes: Bytes) => Failed | null,
): Promise<Result<readonly Bytes[]>> {
  const storage = newBlocks();
  call.state.admission.onRelease(call.id, storage.free);
  return receiveInto(call, body, { ...limits, storage, onBytes });
}

/**
 * Largest body that is read in one piece if its length is declared, and bytes of any other that
 * have a turn for `MAX_SMALL_READS`.
 */
export const MAX_SMALL_BODY_BYTES = 32 * 1024;

/**
 * Bytes of a body whose turns are those of a call that starts. Measured: with the turns of the rest
 * of large bodies, 16 clients with bodies of 200 kB have 6 % less of their rate.
 */
const MAX_BEGINNING_BYTES = 256 * 1024;

const MIN_PROGRESS_KIB = 32;

/** Bytes that a body in a stream, or a WebSocket message, brings within the timeout. */
export const MIN_PROGRESS_BYTES = MIN_PROGRESS_KIB * 1024;

/**
 * Reads of the first `MAX_SMALL_BODY_BYTES` in one turn. Measured: without further turns, bodies of
 * 20 kB in chunks of 100 bytes, which one client left 600 times in a second, kept others waiting
 * for 20 s.
 */
const MAX_SMALL_READS = 2;

/**
 * Reads of a body from which its chunks are tiny if they have fewer bytes than this on average.
 * Each chunk costs a read: what 1,000 clients send in 5 s would be read for an hour, and only
 * behind it is the end, also if they have left.
 */
const TINY = { minReads: 256, maxBytes: 128 } as const;

/**
 * The same while `MIN_CALLS` or more are in flight. Measured: with it all the time, 16 clients with
 * bodies of 100 kB in chunks of 400 bytes have a tenth of their rate.
 */
const TINY_IN_CROWD = { minReads: 16, maxBytes: 512 } as const;

/**
 * Reads of tiny chunks in one turn. Measured: without turns, 300 such bodies made one of 100 kB in
 * chunks of 16 bytes 100 times slower.
 */
const MAX_TINY_READS = 128;

/**
 * Reads a body of at most `MAX_SMALL_BODY_BYTES` by its content length, which the runtime enforces.
 * Reading it in one piece is cheaper by a tenth of a small request than as a stream, but does not
 * show which bytes have arrived: its memory is reserved first, and it is refused as
 * `request_timeout` if it is not complete after `timeoutMs`.
 */
export function receiveSmallBody(
  call: Call,
  request: Request,
  declared: number,
  timeoutMs: number,
): Promise<Result<Bytes>> {
  const { cancellation, world } = call;
  const stopped = cancellation.isCancelled
    ? cancelled(cancellation.reason)
    : holdBody(call, declared);
  if (stopped !== null) return Promise.resolve(stopped);
  const { promise, resolve } = Promise.withResolvers<Result<Bytes>>();
  const cancelDeadline = world.after(timeoutMs, () => end(incomplete(timeoutMs)));
  const unsubscribe = cancellation.onCancel((reason) => end(cancelled(reason)));

  function end(result: Result<Bytes>) {
    unsubscribe();
    cancelDeadline();
    resolve(result);
  }

  request.bytes().then((bytes) => end(success(bytes)), () => end(clientLeft()));
  return promise;
}

/** Limits of a body, and where its bytes are stored. */
interface Receiving {
  readonly declared: number | null;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly storage: BodyStorage;
  readonly onBytes?: (bytes: Bytes) => Failed | null;
}

function receiveInto(
  call: Call,
  body: ReadableStream<Bytes>,
  { declared, timeoutMs, maxBytes, storage, onBytes }: Receiving,
): Promise<Result<readonly Bytes[]>> {
  const { world, turns, cancellation } = call;
  if (cancellation.isCancelled) return Promise.resolve(cancelled(cancellation.reason));
  const source = newSource(body);
  const length = source.isBounded ? declared : null;
  let size = 0;
  let reads = 0;
  /** Further reads in the present turn. */
  let free = 0;
  /** The time and the size at which the body had last brought enough. */
  let progress = { at: world.now(), size };
  /** Time since which a read waits for its turn; null if none does. */
  let waitingSince: number | null = null;
  let isStopped = false;
  let cancelDeadline = world.after(timeoutMs, checkProgress);
  const { promise, resolve } = Promise.withResolvers<Result<readonly Bytes[]>>();
  const unsubscribe = cancellation.onCancel((reason) => abandon(cancelled(reason)));
  const hasArrived = call.state.admission.arrives(
    call.id,
    call.clientOf(),
    () => cancellation.cancel(refuseOverloaded(call, "requests").failure),
  );
  readNext();
  return promise;

  // Callbacks instead of a loop that awaits: the timeout ends the wait, and a race for each chunk
  // would cost more than the chunk. Measured without turns: 240 bodies that arrive at once were
  // read for 0.2 s before another request.
  function readNext() {
    const turn = nextTurn();
    if (turn === null) return read();
    const since = world.now();
    waitingSince = since;
    turn.then(() => {
      waitingSince = null;
      if (isStopped) return;
      // The wait does not count for the timeout. For tiny chunks it is no excuse: as long as all
      // places are taken by such bodies it is long.
      if (!isTiny()) progress.at += world.now() - since;
      read();
    });
  }

  function nextTurn(): Promise<void> | null {
    const isTinyNow = isTiny();
    if (free > 0 && (isTinyNow || size < MAX_SMALL_BODY_BYTES)) {
      free--;
      return null;
    }
    free = (isTinyNow ? MAX_TINY_READS : MAX_SMALL_READS) - 1;
    if (isTinyNow) return turns.next("tiny", cancellation);
    // Without a turn for its beginning, hundreds of bodies that arrive at once and are left keep
    // all others waiting.
    return turns.next(size < MAX_BEGINNING_BYTES ? "start" : "rest", cancellation);
  }

  /** True if the body comes in many tiny chunks. */
  function isTiny(): boolean {
    const { minReads, maxBytes } = call.state.admission.count() < MIN_CALLS ? TINY : TINY_IN_CROWD;
    return reads >= minReads && size < reads * maxBytes;
  }

  function read() {
    reads++;
    source.read(storage.room()).then(take, leave);
  }

  function take({ done, value }: { readonly done: boolean; readonly value?: Bytes | undefined }) {
    if (isStopped) return;
    if (value !== undefined) {
      const arrived = value.byteLength;
      if (source.isBounded) storage.filled(value);
      else storage.append(value);
      size += arrived;
      call.bodyBytes += arrived;
      if (size - progress.size >= MIN_PROGRESS_BYTES) progress = { at: world.now(), size };
      const stopped = size > maxBytes
        ? tooLarge(maxBytes)
        : holdBody(call, arrived) ?? onBytes?.(value) ?? null;
      if (stopped !== null) {
        source.release();
        return end(stopped);
      }
    }
    if (size === length && !done) source.drain();
    if (done || size === length) {
      call.bodyHasEnded = true;
      return end(success(storage.pieces()));
    }
    readNext();
  }

  function checkProgress() {
    const waitedMs = waitingSince === null || isTiny() ? 0 : world.now() - waitingSince;
    const leftMs = progress.at + waitedMs + timeoutMs - world.now();
    if (leftMs > 0) cancelDeadline = world.after(leftMs, checkProgress);
    else abandon(tooSlow(timeoutMs));
  }

  function abandon(failed: Failed) {
    isStopped = true;
    source.cancel();
    end(failed);
  }

  function leave() {
    end(clientLeft());
  }

  function end(result: Result<readonly Bytes[]>) {
    hasArrived();
    unsubscribe();
    cancelDeadline();
    resolve(result);
  }
}

/** Returns the refusal of a request whose body is above the limit. */
export function tooLarge(maxBytes: number): Failed {
  return refuse(
    "request_too_large",
    `The request body is larger than ${Number((maxBytes / MIB).toFixed(3))} MiB; send less.`,
  );
}

function clientLeft(): Failed {
  return fault("client_cancelled", "The client left before its request was complete.");
}

function incomplete(timeoutMs: number): Failed {
  return refuse(
    "request_timeout",
    `The request body was not complete after ${formatDuration(timeoutMs)}; send the request again.`,
  );
}

function tooSlow(timeoutMs: number): Failed {
  const time = formatDuration(timeoutMs);
  return refuse(
    "request_timeout",
    `Less than ${MIN_PROGRESS_KIB} KiB more of the request body came in ${time}; send it faster.`,
  );
}

interface Source {
  /**
   * True if chunks are read into the buffer of the caller, from a body whose length the runtime
   * checks.
   */
  readonly isBounded: boolean;
  read(into: Bytes): Promise<{ readonly done: boolean; readonly value?: Bytes | undefined }>;
  /**
   * Reads the end behind the last byte, without waiting: newer runtimes hold the body open until
   * then.
   */
  drain(): void;
  /** Gives the body to the next reader; no read may be pending. */
  release(): void;
  cancel(): void;
}

/**
 * Returns a source for a body. Bodies from the listener are byte streams; bodies of requests made
 * inside the gateway are not.
 */
export function newSource(body: ReadableStream<Bytes>): Source {
  try {
    const reader = body.getReader({ mode: "byob" });
    return {
      isBounded: true,
      read: (into) => reader.read(into),
      drain: () => void reader.read(new Uint8Array(1)).catch(() => {}),
      release: () => reader.releaseLock(),
      cancel: () => void reader.cancel().catch(() => {}),
    };
  } catch {
    const reader = body.getReader();
    return {
      isBounded: false,
      read: () => reader.read(),
      drain: () => void reader.read().catch(() => {}),
      release: () => reader.releaseLock(),
      cancel: () => void reader.cancel().catch(() => {}),
    };
  }
}
