import { concatBytes } from "../core/concat_bytes.ts";
import { ConnectionError } from "../core/failure/connection_error.ts";
import { failed, fault, responseTooLarge, type Result, success } from "../core/failure/result.ts";
import type { Incoming } from "../core/world.ts";
import { codingOf, decoded, type RawReader } from "./content_encoding.ts";
import type { ResponseMemory } from "../traffic/call_memory.ts";
import { type LoopTurns, turnToParse } from "../traffic/loop_turns.ts";
import type { AttemptTimer } from "./attempt_timer.ts";

/** Buffer size of one read. Measured: 64 KiB for each response cost 8 % of the work in garbage. */
const READ_BUFFER_BYTES = 16 * 1024;

/**
 * Bytes at the beginning of a body that do not wait for the rest of large ones: a short response
 * has no more.
 */
const START_BYTES = 16 * 1024;

/** Largest body of a whole response. */
export const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/**
 * Time in which the body of an error arrives, or the rest of one that is read only for its token
 * counts, in milliseconds. One second of the attempt is left to find them.
 */
export const MAX_LATE_READ_MS = 4_000;

/** Reader of a response body. Timeouts apply to every read, and errors become a Fault. */
export interface BodyReader {
  /** Returns the next bytes of the body, valid until the next call; null at the end. */
  read(): Promise<Result<Uint8Array | null>>;
  /** Cancels the upstream response; the rest of the body is discarded. */
  cancel(): Promise<void>;
  /** Ends the body at what has been read of it, without an error. */
  end(): Promise<void>;
  /**
   * Length of the whole body that the response declares; null if it declares none or is compressed.
   */
  readonly declaredLength: number | null;
  /** Returns a promise of the turn for more work with the body; null if it may be done now. */
  turn(): Promise<void> | null;
  /** True once the response is read no more: its call or its attempt is cancelled. */
  isOver(): boolean;
  /** Returns a promise of the turn in which a text of this size is parsed; null for now. */
  turnToParse(bytes: number): Promise<void> | null;
  /** Counts what is held of the response; absent if it belongs to no call. */
  readonly memory?: ResponseMemory;
}

/**
 * Returns the reader of a response body; a response without a body ends at once. `memory` counts
 * the bytes that arrive; a piece is returned in its turn of `turns`.
 */
export function openBody(
  response: Incoming,
  timer: AttemptTimer,
  { memory, turns }: { readonly memory?: ResponseMemory; readonly turns: LoopTurns },
): BodyReader {
  const { cancellation } = timer;
  const reader = newRawReader(response);
  let last: Bytes | undefined;
  let receivedBytes = 0;
  let isEnded = false;
  // The runtime's fetch holds the abort signal weakly: after a garbage collection, an abort alone
  // does not stop the body.
  cancellation.onCancel(() => void cancelled(reader));

  return {
    async read() {
      try {
        timer.readStarted();
        const bytes = await reader.next(last?.buffer);
        if (bytes !== null) {
          last = bytes;
          timer.bytesReceived();
          memory?.arrived(bytes.length);
          const turn = turns.next(receivedBytes < START_BYTES ? "start" : "rest", cancellation);
          receivedBytes += bytes.length;
          if (turn === null) return success(bytes);
          await turn;
        }
        const { reason } = cancellation;
        return reason === null ? success(bytes) : failed(reason);
      } catch (error) {
        const { reason } = cancellation;
        if (reason !== null) return failed(reason);
        // A read of the decompression that waits is rejected when that is cancelled.
        if (isEnded) return success(null);
        return fault(
          "upstream_unreachable",
          "The connection to the provider broke within the response.",
          {
            // Any other error comes from the decompression: the content coding is invalid.
            cause: error instanceof ConnectionError ? error.kind : "malformed",
          },
        );
      }
    },
    end() {
      isEnded = true;
      return cancelled(reader);
    },
    async cancel() {
      await cancelled(reader);
      cancellation.cancel(null);
    },
    declaredLength: declaredLength(response),
    turn: () => turns.next("rest"),
    isOver: () => cancellation.isCancelled,
    turnToParse: (bytes) => turnToParse(turns, bytes),
    ...memory !== undefined && { memory },
  };
}

async function cancelled(reader: RawReader): Promise<void> {
  try {
    await reader.cancel();
  } catch {
    // The body of a broken connection cannot be cancelled and need not be.
  }
}

function newRawReader({ body, headers }: Incoming): RawReader {
  if (body === null) return { next: () => Promise.resolve(null), cancel: () => Promise.resolve() };
  const raw = body instanceof ReadableStream
    ? streamReader(body)
    : { next: body.read, cancel: body.cancel };
  return decoded(raw, headers.get("content-encoding"));
}

function streamReader(body: ReadableStream<Bytes>): RawReader {
  const reader = body.getReader({ mode: "byob" });
  return {
    // Measured: one reused buffer has twice the throughput of a new buffer for each read.
    async next(used) {
      const { value } = await reader.read(
        new Uint8Array(used ?? new ArrayBuffer(READ_BUFFER_BYTES)),
      );
      return value === undefined || value.length === 0 ? null : value;
    },
    cancel: () => reader.cancel(),
  };
}

/** Smallest body for which the memory is taken at once: the system provides it as it is written. */
const MIN_RESERVED_BYTES = 256 * 1024;

/** Callbacks of a body that is read whole. */
interface LargeBody {
  /**
   * Receives the beginning of a body that is too large, before its response is cancelled, or that
   * breaks off, unless its call or attempt is cancelled.
   */
  readonly onBeginning?: (beginning: Bytes) => Promise<void>;
  /** Size beyond which a body is read only for its token counts. */
  readonly usualBytes?: number;
  /** Called once a body has more bytes than that. */
  readonly onUnusual?: () => void;
}

/** Returns the whole body; a fault if it is larger than `limit` bytes. */
export async function readAll(
  reader: BodyReader,
  limit: number,
  { onBeginning, usualBytes = Infinity, onUnusual }: LargeBody = {},
): Promise<Result<Bytes>> {
  const { declaredLength: length } = reader;
  const isReserved = length !== null && length >= MIN_RESERVED_BYTES && length <= limit;
  const room = isReserved ? new Uint8Array(length) : null;
  const pieces: Bytes[] = [];
  let size = 0;
  reader.memory?.measureBy(() => size);

  async function passBeginning(length: number): Promise<void> {
    if (onBeginning === undefined) return;
    const beginning = room?.subarray(0, length) ?? joined(pieces);
    pieces.length = 0;
    await onBeginning(beginning);
  }

  for (;;) {
    const piece = await reader.read();
    if (!piece.ok) {
      if (!reader.isOver()) await passBeginning(size);
      return piece;
    }
    if (piece.value === null) return success(room?.subarray(0, size) ?? joined(pieces));
    const at = size;
    size += piece.value.length;
    if (at <= usualBytes && size > usualBytes) onUnusual?.();
    if (size > (room?.length ?? limit)) {
      await passBeginning(at);
      await reader.cancel();
      return responseTooLarge("The provider's response is too large.");
    }
    // The next read reuses the buffer of this read.
    if (room === null) pieces.push(piece.value.slice());
    else room.set(piece.value, at);
  }
}

function declaredLength({ headers }: Incoming): number | null {
  const length = headers.get("content-length");
  const isPlain = codingOf(headers.get("content-encoding")) !== "known";
  return isPlain && length !== null && /^\d{1,9}$/.test(length) ? Number(length) : null;
}

type Bytes = Uint8Array<ArrayBuffer>;

function joined(pieces: readonly Bytes[]): Bytes {
  const [only, ...others] = pieces;
  if (only !== undefined && others.length === 0) return only;
  return concatBytes(pieces);
}
