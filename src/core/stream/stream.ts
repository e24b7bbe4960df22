import { pushAll } from "../push_all.ts";
import type { Failure } from "../failure/failure.ts";
import type { JsonObject } from "../json/json.ts";
import type { KeepAlive, StreamRecord } from "./reply.ts";
import { type Failed, responseTooLarge, type Result, success } from "../failure/result.ts";
import type { BilledUnits, StreamEvent, Usage } from "./events.ts";
import type { CallingReasoning } from "./reasoning.ts";

/** Synchronous stream transformation: no clock, no I/O, no exceptions. */
export interface Codec<In, Out> {
  /**
   * Returns the output for one item; an empty list continues the stream. A failure ends the stream,
   * and none of that item's output is sent.
   */
  push(item: In): Result<readonly Out[]>;
  /** Returns the last output at the end of the source; a failure if the source ended too early. */
  end(): Result<readonly Out[]>;
  /** True after the last item that matters; the rest of the source is not read. */
  done(): boolean;
}

/** Decodes the records of an upstream stream to events. */
export interface Decoder extends Codec<StreamRecord, StreamEvent> {
  /** Returns the last token counts that the upstream has reported; null before it reports any. */
  usage(): Usage | null;
  /**
   * True while a tool call is held back until it is whole, which takes any number of records.
   * Absent if calls are not held back.
   */
  isHolding?(): boolean;
  /** True if a record had content that no event shows yet; absent if every event comes at once. */
  hasContent?(): boolean;
  /** Returns the bytes that are held beyond the record; absent if they are few. */
  heldBytes?(): number;
}

/** Translation of upstream records to client records: a decoder with an encoder, or a relay. */
export interface StreamTranslation extends Codec<StreamRecord, StreamRecord> {
  /**
   * Sent whenever the stream is silent after delivery began; absent if the upstream's records
   * suffice.
   */
  readonly keepAlive?: KeepAlive;
  /**
   * Returns the records as they are sent, in the moment in which they are: with the numbers of the
   * stream, in which signs of life have some. Absent if the records are complete.
   */
  number?(records: readonly StreamRecord[]): readonly StreamRecord[];
  /** Returns the ID of the response after a record that holds it; null before. Absent if unused. */
  identity?(): string | null;
  /**
   * Returns the terminal records of a stream that broke after delivery began. They also replace the
   * terminal that `push` or `end` has just returned if the outcome could not be stored: that
   * terminal is not sent then.
   */
  fail(failure: Failure): readonly StreamRecord[];
  /** True while a tool call is held back until it is whole; absent if calls are not held back. */
  isHolding?(): boolean;
  /**
   * True once a record with content has arrived, also if it is held back; absent if nothing with
   * content is held back.
   */
  hasContent?(): boolean;
  /**
   * True once the filter of the provider has ended the response before any content; absent if the
   * translation does not know.
   */
  isFiltered?(): boolean;
  /** Returns the bytes of the state of the stream; absent if they are few. */
  heldBytes?(): number;
  /** The outcome of the complete stream; null until `done` returns true. */
  outcome(): Outcome | null;
  /**
   * Returns the last token counts that the upstream has reported, also for a broken stream; null
   * for none.
   */
  usage(): Usage | null;
}

/** The result of a successful call for stores and metrics. */
export interface Outcome {
  /** The whole resource if the client API stores one. */
  readonly resource: JsonObject | null;
  readonly usage: Usage | null;
  /** Units that the call has used besides tokens; absent if they are not counted. */
  readonly units?: BilledUnits;
  /** Reasoning to store for the next request of a tool loop; absent for none. */
  readonly reasoning?: CallingReasoning;
  /** True if the filter of the provider has ended the response before any content; else absent. */
  readonly isFiltered?: true;
  /** True for a response in which the provider says that it has failed; else absent. */
  readonly isFailed?: true;
}

/**
 * Encodes stream events as records of the client's protocol. `end` returns the terminal records of
 * a complete response.
 */
export interface EventEncoder extends Codec<StreamEvent, StreamRecord> {
  /** Sent whenever the stream is silent; absent if the client's protocol has no such record. */
  readonly keepAlive?: KeepAlive;
  /** Returns the records with their numbers, as they are sent; absent if they have none. */
  number?(records: readonly StreamRecord[]): readonly StreamRecord[];
  /**
   * Returns the terminal records of a broken stream. They also replace the terminal that `end`
   * returned.
   */
  fail(failure: Failure): readonly StreamRecord[];
  /** Returns the token counts as far as they are known; null if the upstream sent none. */
  usage(): Usage | null;
  /**
   * Returns the resource to store after a complete response; null if the client API stores none.
   */
  resource(): JsonObject | null;
  /**
   * Returns the reasoning to store after a complete response; absent if the client API stores none.
   */
  reasoning?(): CallingReasoning | null;
  /** Returns the bytes of the response that are held; absent if they are few. */
  heldBytes?(): number;
}

/** Size in memory of a tool call, content block or output item besides its texts. */
export const ITEM_BYTES = 512;

/**
 * Maximum number of calls of a response, with the other blocks or items among them. Reading one
 * takes several times as long as parsing it, and a garbage collection marks the objects of all of
 * them in one pause.
 */
export const MAX_CALLS = 5_000;

/** Returns the fault of a response with too many calls, or choices of a Chat response. */
export function tooManyCalls(): Failed {
  return responseTooLarge("The provider's response holds too many choices, blocks or tool calls.");
}

/** Size in memory of an event or a piece of a text besides its characters. */
export const EVENT_BYTES = 32;

/**
 * Returns the counts so far of a stream that ended at a stop text: its output has no final count.
 */
function unfinished(usage: Usage | null): Usage | null {
  return usage === null ? null : { ...usage, unknown: usage.unknown ?? "output" };
}

/**
 * Returns a translation from the upstream's protocol to the client's. If the decoder or the encoder
 * fails on a record, none of its output is sent. The translation is done when the decoder is, after
 * the encoder's terminal.
 */
export function translateStream(decoder: Decoder, encoder: EventEncoder): StreamTranslation {
  let done = false;
  let calls = 0;
  /** Bytes of the names and IDs of tool calls. */
  let callBytes = 0;

  function encode(
    events: Result<readonly StreamEvent[]>,
    isLast: boolean,
  ): Result<readonly StreamRecord[]> {
    if (!events.ok) return events;
    const records: StreamRecord[] = [];
    for (const event of events.value) {
      if (event.type === "tool_call") {
        calls += 1;
        callBytes += ITEM_BYTES + event.id.length + event.name.length;
      }
      if (calls > MAX_CALLS) return tooManyCalls();
      const step = encoder.push(event);
      if (!step.ok) return step;
      pushAll(records, step.value);
    }
    if (!isLast) return success(records);
    const terminal = encoder.end();
    if (!terminal.ok) return terminal;
    done = true;
    return success([...records, ...terminal.value]);
  }

  return {
    ...encoder.keepAlive !== undefined && { keepAlive: encoder.keepAlive },
    ...encoder.number !== undefined && { number: encoder.number },
    push(record) {
      if (done) return success([]);
      const events = decoder.push(record);
      return encode(events, decoder.done());
    },
    end() {
      return done ? success([]) : encode(decoder.end(), true);
    },
    fail: (failure) => encoder.fail(failure),
    done: () => done,
    usage: () => decoder.usage(),
    ...decoder.isHolding !== undefined && { isHolding: decoder.isHolding },
    heldBytes: () => callBytes + (decoder.heldBytes?.() ?? 0) + (encoder.heldBytes?.() ?? 0),
    outcome() {
      if (!done) return null;
      const reasoning = encoder.reasoning?.() ?? null;
      const usage = encoder.usage() ?? unfinished(decoder.usage());
      const outcome = { resource: encoder.resource(), usage };
      return reasoning === null ? outcome : { ...outcome, reasoning };
    },
  };
}
