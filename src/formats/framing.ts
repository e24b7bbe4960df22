import type { StreamRecord } from "../core/stream/reply.ts";

/** Splits text that arrives in arbitrary pieces into whole stream records. */
export interface Framing {
  /** Adds the next text; returns the records that are complete now. */
  push(text: string): readonly StreamRecord[];
  /** Returns the records that the end of the source completes. */
  end(): readonly StreamRecord[];
  /** Returns the length in characters of the incomplete record. */
  held(): number;
}
