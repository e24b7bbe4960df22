import type { Cancellation } from "../core/cancellation.ts";
import type { KeepAlive, StreamReply } from "../core/stream/reply.ts";
import type { World } from "../core/world.ts";
import { sseText } from "../formats/sse.ts";
import { utf8Bytes } from "../formats/utf8.ts";
import type { Trace } from "../observe/report.ts";
import type { Flusher } from "./flusher.ts";
import { watchSilence } from "./silence.ts";
import type { Taking } from "./taking.ts";

/** Records that arrive within this time after the last write are buffered and written together. */
const GATHER_MS = 1;

/** Flush threshold. Only enqueued data exerts backpressure on the upstream. */
const MAX_GATHERED_CHARS = 64 * 1024;

/** The way in which a response ended. */
export interface ResponseEnding {
  /** True if every byte was written. */
  readonly isWhole: boolean;
}

/** The end of a body, with the bytes that were passed to the runtime. */
export interface BodyEnding extends ResponseEnding {
  readonly bytes: number;
}

/**
 * Largest write that is passed to the runtime as a whole; larger ones are passed in pieces as the
 * client takes them.
 */
const MAX_PASSED_BYTES = 128 * 1024;

/** Dependencies of a stream body, and the task to run at its end. */
export interface StreamBodyOptions {
  readonly world: Pick<World, "now" | "after">;
  readonly cancellation: Cancellation;
  readonly flusher: Flusher;
  /** Silence after which the stream gets a sign of life, in milliseconds; 0 for none. */
  readonly pingMs: number;
  /** Counts the records; null while the admin page is off. */
  readonly trace?: Trace | null;
  readonly taking?: Taking | null;
  /** Called once, when nothing more is written. */
  onEnd(ending: BodyEnding): void;
}

/**
 * Returns stream records as a response body. Every write has whole records only. The first record
 * after a pause is written immediately; records that follow quickly are buffered, because a write
 * costs more than a record. Cancelling the body disconnects the client. The keep-alive record
 * of the reply is written after each silence, unless the client reads too slowly to receive it.
 */
export function streamBody(
  { records, keepAlive }: Pick<StreamReply, "records" | "keepAlive">,
  { world, cancellation, flusher, pingMs, trace = null, taking, onEnd }: StreamBodyOptions,
): ReadableStream<Uint8Array> {
  let gathered = "";
  /**
   * Pieces of a large write that the runtime has not requested: it buffers each as a whole for a
   * slow client.
   */
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  let lastWrite = 0;
  let isWaiting = false;
  let resume = () => {};
  let cancelKeepAlive = () => {};

  return new ReadableStream({
    // Not awaited: a pending `start` would keep `pull` and `cancel` from being called.
    start(controller) {
      void pump(controller);
    },
    pull(controller) {
      taking?.requested();
      pass(controller);
      if (pieces.length === 0) resume();
    },
    cancel() {
      cancellation.clientDisconnected();
    },
  }, { highWaterMark: 2 });

  async function pump(controller: ReadableStreamDefaultController<Uint8Array>) {
    let isWhole = false;
    const unsubscribe = cancellation.onCancel(() => resume());

    function flush() {
      isWaiting = false;
      write(controller);
    }

    if (keepAlive !== undefined && pingMs > 0) {
      cancelKeepAlive = watchSilence({
        world,
        silenceMs: pingMs,
        lastWrite: () => lastWrite,
        onSilence: () => writeKeepAlive(controller, keepAlive),
      });
    }
    try {
      for await (const group of records) {
        gathered += sseText(group);
        if (trace !== null) trace.records += group.length;
        if (
          gathered.length >= MAX_GATHERED_CHARS ||
          (!isWaiting && world.now() - lastWrite >= GATHER_MS)
        ) {
          write(controller);
          if (isFull(controller)) await waitForRoom(controller);
        } else if (!isWaiting) {
          isWaiting = true;
          flusher.soon(flush);
        }
        if (cancellation.isClientGone) return controller.error(new Error("the client has gone"));
      }
      write(controller);
      if (pieces.length > 0) await waitForRoom(controller);
      for (const piece of pieces.splice(0)) controller.enqueue(piece);
      // A client that disconnects after the last record has had the whole response, though the
      // upstream may still be ending.
      isWhole = gathered === "";
      if (!cancellation.isClientGone) controller.close();
    } catch (error) {
      // A bug: the client must not take a partial response for a complete one.
      if (!cancellation.isClientGone) controller.error(error);
    } finally {
      unsubscribe();
      flusher.cancel(flush);
      cancelKeepAlive();
      onEnd({ isWhole, bytes });
    }
  }

  function write(controller: ReadableStreamDefaultController<Uint8Array>) {
    if (gathered === "" || cancellation.isClientGone) return;
    lastWrite = world.now();
    const written = utf8Bytes(gathered);
    bytes += written.byteLength;
    gathered = "";
    if (pieces.length === 0 && written.byteLength <= MAX_PASSED_BYTES) {
      controller.enqueue(written);
      taking?.passed(false);
    } else {
      pieces.push(...viewPieces(written));
      pass(controller);
    }
  }

  /** Passes pieces to the runtime while it has room. */
  function pass(controller: ReadableStreamDefaultController<Uint8Array>) {
    while (pieces.length > 0 && (controller.desiredSize ?? 0) > 0) {
      const piece = pieces.shift();
      // The runtime may request the next one before this returns.
      if (piece !== undefined) controller.enqueue(piece);
      taking?.passed(false);
    }
  }

  function isFull({ desiredSize }: ReadableStreamDefaultController<Uint8Array>): boolean {
    return pieces.length > 0 || (desiredSize ?? 1) <= 0;
  }

  /** Writes the keep-alive record, unless the client reads too slowly. */
  function writeKeepAlive(
    controller: ReadableStreamDefaultController<Uint8Array>,
    keepAlive: KeepAlive,
  ) {
    if (pieces.length > 0 || (controller.desiredSize ?? 0) <= 0) return;
    const alive = gathered === "" ? keepAlive() : null;
    if (alive !== null) gathered = sseText([alive]);
    write(controller);
  }

  /** Waits until the client has read enough, which applies backpressure to the upstream. */
  async function waitForRoom(controller: ReadableStreamDefaultController<Uint8Array>) {
    write(controller);
    while (!cancellation.isCancelled && isFull(controller)) {
      await new Promise<void>((resolve) => resume = resolve);
    }
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Size of a piece. The runtime takes some ahead: measured, up to 0.5 MiB for one connection. */
const PIECE_BYTES = 64 * 1024;

/** Yields the bytes in pieces of 64 KiB. */
export function* viewPieces(bytes: Bytes): Generator<Bytes, void, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
