import { Buffer } from "node:buffer";
import type { Failure } from "../core/failure/failure.ts";
import { keptRecord, type StreamRecord } from "../core/stream/reply.ts";

/** The next records of a stream for the client, and the failure that follows them. */
export interface Step {
  readonly records: readonly StreamRecord[];
  readonly failure: Failure | null;
}

/** Settings and events of a stream that is held back from its first content on. */
export interface Hold {
  readonly maxBytes: number;
  /**
   * Called when the stream begins to be held. `release` is to be called when the time has passed or
   * there is no memory. Returns a function that ends this.
   */
  begin(release: () => void): () => void;
  /** Called with the bytes of all held records in memory. */
  onHeld(bytes: number): void;
  /** Called when the held records are delivered: the whole stream, or its begin. */
  onDelivery(state: "complete" | "released"): void;
  /** Called when the client has taken the held records. */
  onTaken(): void;
}

/** The records that were held back, or the failure of the attempt. */
export interface HeldStep extends Step {
  /** The step that was awaited when the stream was released; null if it is to be read. */
  readonly next: Promise<Step> | null;
}

/** A stream that is held back. */
export interface HeldStream {
  /** Returns the next step; never called while one is awaited. */
  advance(): Promise<Step>;
  isDone(): boolean;
}

/** Size of a held record besides its text. Measured: 80 bytes for each comment of 3 bytes. */
const RECORD_BYTES = 80;

/**
 * Holds a stream back until it is complete, or until the time, the bytes or the memory of the hold
 * are used up. A break meanwhile is the failure of the attempt: nothing of it was delivered.
 */
export async function holdBack(first: Step, stream: HeldStream, hold: Hold): Promise<HeldStep> {
  const records: StreamRecord[] = [];
  const released = Promise.withResolvers<null>();
  let isReleased = false;
  let bytes = 0;

  function release() {
    isReleased = true;
    released.resolve(null);
  }

  function deliver(state: "complete" | "released", next: Promise<Step> | null): HeldStep {
    hold.onDelivery(state);
    return { records, failure: null, next };
  }

  const end = hold.begin(release);
  try {
    for (let step = first;;) {
      if (step.failure !== null) return { records: [], failure: step.failure, next: null };
      for (const record of step.records) {
        records.push(keptRecord(record));
        bytes += Buffer.byteLength(record.raw ?? record.data);
      }
      hold.onHeld(bytes + records.length * RECORD_BYTES);
      if (stream.isDone()) return deliver("complete", null);
      if (isReleased || bytes >= hold.maxBytes) return deliver("released", null);
      const next = stream.advance();
      const arrived = await Promise.race([next, released.promise]);
      if (arrived === null) return deliver("released", next);
      step = arrived;
    }
  } finally {
    end();
  }
}
