import type { Failure } from "./failure.ts";
import type { JsonObject } from "./json/json.ts";
import type { StreamRecord } from "./reply.ts";
import type { Result } from "./result.ts";
import type { StreamEvent, Usage } from "./events.ts";

/** A synchronous machine: no clock, no I/O, no throw. */
export interface Codec<In, Out> {
  /** An empty list means "go on". A failure ends the stream; nothing of that item goes out. */
  push(item: In): Result<readonly Out[]>;
  /** The source is at its end; one that stopped too early is a failure. */
  end(): Result<readonly Out[]>;
  /** True after the last item that counts; the rest of the source is not read. */
  done(): boolean;
}

/** Reads the records of an upstream's stream as events. */
export interface Decoder extends Codec<StreamRecord, StreamEvent> {
  /** Returns the last token counts that the upstream has reported; null before it reports any. */
  usage(): Usage | null;
}

/** Ends in the client's own records: a decoder and an encoder in a chain, or a relay. */
export interface StreamTranslation extends Codec<StreamRecord, StreamRecord> {
  /** Returns the ID of the response once a record with it is returned; null before. Absent if unused. */
  identity?(): string | null;
  /**
   * Returns the terminal of a stream that broke after delivery began. Also replaces the terminal that
   * `push` or `end` has just returned, if the outcome could not be stored: that one is not sent then.
   */
  fail(failure: Failure): readonly StreamRecord[];
  /** Set when `done` turns true. */
  outcome(): Outcome | null;
  /** Returns the last token counts that the upstream has reported, also of a stream that broke; null for none. */
  usage(): Usage | null;
}

/** What a call that went well leaves to be remembered. */
export interface Outcome {
  /** The whole resource, when the client API keeps one. */
  readonly resource: JsonObject | null;
  readonly usage: Usage | null;
}
