import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import type { World } from "../../core/world.ts";
import type { Log } from "../log.ts";
import type { BatchSettings } from "./batches.ts";
import type { SpanExporter } from "./exporter.ts";

/** Time limit of the span export at shutdown. */
const FLUSH_TIMEOUT_MS = 5_000;

/** Maximum number of pieces of a batch. */
const MAX_BATCH_PIECES = 16;

/** Spans that have ended and wait to be sent. */
export interface SpanQueue {
  /** Adds a span; drops it if the queue is full. */
  add(span: ReadableSpan): void;
  /** Sends all spans and closes the exporter, within 5 s. */
  flush(): Promise<void>;
}

/** Dependencies of a queue besides its sizes. */
interface QueueWorld extends Pick<World, "after"> {
  readonly log: Pick<Log, "info" | "warn">;
}

/** Encoded spans. */
interface Piece {
  readonly bytes: Uint8Array;
  readonly spans: number;
}

/**
 * Returns a queue that sends spans in batches, one at a time. Spans are encoded in small pieces
 * when they arrive: as objects that wait for their batch they would outlive young generations of
 * the heap, whose collection then takes longer than all other work for spans; and a whole batch is
 * encoded in milliseconds, in which no request is served.
 */
export function newSpanQueue(
  exporter: SpanExporter,
  settings: BatchSettings,
  { after, log }: QueueWorld,
): SpanQueue {
  const { maxExportBatchSize, maxQueueSize, scheduledDelayMillis } = settings;
  const pieceSpans = Math.ceil(maxExportBatchSize / MAX_BATCH_PIECES);
  const batchPieces = Math.floor(maxExportBatchSize / pieceSpans);
  let open: ReadableSpan[] = [];
  const pieces: Piece[] = [];
  let waiting = 0;
  let sending: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;
  let isFailing = false, isDropping = false;

  function add(span: ReadableSpan): void {
    if (waiting >= maxQueueSize) return warnOfDrops();
    waiting += 1;
    if (open.push(span) >= pieceSpans) encodeOpen();
    proceed(batchPieces);
  }

  /** Sends a batch if there are at least `minPieces`; otherwise at the end of the delay. */
  function proceed(minPieces: number): void {
    if (sending !== null || waiting === 0) return;
    if (pieces.length >= minPieces) {
      sending = sendBatch().then(() => {
        sending = null;
        proceed(batchPieces);
      });
    } else {
      cancelTimer ??= after(scheduledDelayMillis, () => {
        cancelTimer = null;
        encodeOpen();
        proceed(1);
      });
    }
  }

  function encodeOpen(): void {
    if (open.length === 0) return;
    const spans = open;
    open = [];
    try {
      pieces.push({ bytes: exporter.encode(spans), spans: spans.length });
    } catch {
      waiting -= spans.length;
      learn(false);
    }
  }

  async function sendBatch(): Promise<void> {
    const batch = pieces.splice(0, batchPieces);
    for (const { spans } of batch) waiting -= spans;
    learn(await exporter.send(batch.map(({ bytes }) => bytes)));
  }

  /** Logs when the collector begins to fail and when it recovers. */
  function learn(isAccepted: boolean): void {
    // What the collector says may contain its address with credentials.
    if (!isAccepted && !isFailing) log.warn("spans are lost: the collector does not accept them");
    if (isAccepted && isFailing) log.info("the collector accepts spans again");
    isFailing = !isAccepted;
  }

  function warnOfDrops(): void {
    if (isDropping) return;
    isDropping = true;
    log.warn("spans are lost: the collector takes them more slowly than calls make them");
  }

  async function flush(): Promise<void> {
    cancelTimer?.();
    encodeOpen();
    const batches = [sending];
    while (pieces.length > 0) batches.push(sendBatch());
    const late = Promise.withResolvers<void>();
    const cancel = after(FLUSH_TIMEOUT_MS, () => {
      learn(false);
      late.resolve();
    });
    await Promise.race([Promise.all(batches), late.promise]);
    cancel();
    exporter.close();
  }

  return { add, flush };
}
