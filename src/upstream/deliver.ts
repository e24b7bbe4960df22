import { Buffer } from "node:buffer";
import type { Outcome, StreamTranslation } from "../core/stream/stream.ts";
import type { Failure } from "../core/failure/failure.ts";
import { pushAll } from "../core/push_all.ts";
import type { StreamRecord } from "../core/stream/reply.ts";
import {
  clientGone,
  fault,
  internalFault,
  responseTooLarge,
  type Result,
  success,
} from "../core/failure/result.ts";
import { type HeldStep, type Hold, holdBack, type Step } from "./hold.ts";
import type { RecordReader } from "./record_reader.ts";

/** One upstream stream with its translation for the client. */
export interface Stream {
  readonly source: Pick<RecordReader, "next">;
  readonly translation: StreamTranslation;
  /**
   * Stores the outcome of the call. Awaited before the terminal
   * is sent.
   */
  onComplete(outcome: Outcome): Promise<Result<void>> | null;
  /** Called with records of the provider before they are translated. */
  onRead?(records: readonly StreamRecord[]): void;
  /** Stores the ID of the response; awaited before the first record that holds it is sent. */
  identify?(id: string): Promise<Result<void>>;
  /**
   * Called when a group was translated to these records, which are sent next. `waitingBytes` is the
   * size of the records before the first one with content; 0 after it.
   */
  onTranslated?(records: readonly StreamRecord[], waitingBytes: number): void;
  /** Called when a record with content has arrived, before it is held back or delivered. */
  onContent?(): void;
  /**
   * True once the filter of the provider has ended the response before any content, which then is a
   * failed attempt; absent if such a response is delivered.
   */
  isFiltered?(): boolean;
  /** Holds the stream back from its first content on; absent if it is delivered as it arrives. */
  readonly hold?: Hold;
  /** Called with an error that a codec or a store threw, which is a bug. */
  onBug(error: unknown): void;
  /** Called once when the stream ends; `failure` is null if the stream was complete. */
  onEnd(failure: Failure | null): Promise<void>;
}

/** Number of records, including comments and blank lines, before the first record with content. */
const MAX_UNCOMMITTED_RECORDS = 1024;

/** Total size of the records before the first record with content. */
const MAX_UNCOMMITTED_BYTES = 4 * 1024 * 1024;

/**
 * Reads a stream up to its first record with content, and returns the records for the client. An
 * earlier failure is a failed attempt, not a broken stream. Too many records without content are a
 * failure too: they would fill the memory or keep the client waiting forever.
 */
export async function commit(
  stream: Stream,
): Promise<Result<AsyncIterable<readonly StreamRecord[]>>> {
  const progress: Progress = { budget: newBudget(), isIdentified: false };
  for (;;) {
    let step = await advance(stream, progress);
    if (step.records.length > 0) {
      progress.budget = null;
      const { hold, translation } = stream;
      if (hold === undefined) {
        return success(deliver({ ...step, next: null }, stream, progress));
      }
      const source = {
        advance: () => advance(stream, progress),
        isDone: () => translation.done(),
      };
      const held = await holdBack(step, source, hold);
      if (held.failure === null) return success(deliver(held, stream, progress));
      step = held;
    }
    if (step.failure !== null) {
      const failure = uncommitted(step.failure);
      await stream.onEnd(failure);
      return { ok: false, failure };
    }
  }
}

/**
 * Returns the failure of an attempt before delivery began: an idle timeout becomes an upstream
 * timeout.
 */
export function uncommitted(failure: Failure): Failure {
  return failure.kind === "upstream_idle"
    ? fault("upstream_timeout", failure.message).failure
    : failure;
}

async function* deliver(
  first: HeldStep,
  stream: Stream,
  progress: Progress,
): AsyncGenerator<readonly StreamRecord[], void, void> {
  const { translation: { number = unchanged } } = stream;
  let step: Step = first;
  let { next } = first;
  // If the client disconnects, the consumer returns the generator at its yield, and this failure
  // remains.
  let ending: Failure | null = clientGone().failure;
  try {
    for (;;) {
      if (step.failure === null && stream.translation.done()) ending = null;
      if (step.records.length > 0) {
        yield number(step.records);
        if (step === first) stream.hold?.onTaken();
      }
      if (step.failure !== null) {
        ending = step.failure;
        if (ending.kind !== "client_cancelled") yield number(stream.translation.fail(ending));
        return;
      }
      if (ending === null) return;
      step = await (next ?? advance(stream, progress));
      next = null;
    }
  } finally {
    // The rest may be read for its counts, behind the group that is read now.
    if (next !== null) await next;
    await stream.onEnd(ending);
  }
}

function unchanged(records: readonly StreamRecord[]): readonly StreamRecord[] {
  return records;
}

/** Progress of a stream. */
interface Progress {
  /** Limit on the records before the first record with content; null after that record. */
  budget: Budget | null;
  isIdentified: boolean;
}

/** Limit on the records without content at the start of a stream. */
interface Budget {
  /**
   * True if the stream is still within the limit after this record. A record of a call that is held
   * back until it is whole counts with its bytes only.
   */
  admits(record: StreamRecord, isHeld: boolean): boolean;
  /** Returns the bytes of the records so far. */
  bytes(): number;
}

function newBudget(): Budget {
  let records = 0;
  let bytes = 0;
  return {
    admits(record, isHeld) {
      if (!isHeld) records += 1;
      bytes += Buffer.byteLength(record.raw ?? record.data);
      return records <= MAX_UNCOMMITTED_RECORDS && bytes <= MAX_UNCOMMITTED_BYTES;
    },
    bytes: () => bytes,
  };
}

/** Reads and translates the next group of records. Stores the response ID and the outcome first. */
async function advance(stream: Stream, progress: Progress): Promise<Step> {
  const { source, translation } = stream;
  const group = await source.next();
  if (!group.ok) return { records: [], failure: group.failure };
  if (group.value !== null) stream.onRead?.(group.value);
  const { records, terminal, failure } = pushGroup(stream, group.value ?? [null], progress.budget);
  if (progress.budget !== null && failure === null && stream.isFiltered?.() === true) {
    return { records: [], failure: contentFiltered() };
  }
  const sent = terminal === null ? records : [...records, ...terminal];
  stream.onTranslated?.(sent, progress.budget?.bytes() ?? 0);
  const identifying = progress.isIdentified ? null : identify(stream);
  if (identifying !== null) {
    progress.isIdentified = true;
    const identified = await awaitStore(identifying, stream.onBug);
    if (!identified.ok) return { records: [], failure: identified.failure };
  }
  if (failure !== null || terminal === null) return { records, failure };
  const outcome = translation.outcome();
  const storing = outcome === null ? null : stream.onComplete(outcome);
  if (storing !== null) {
    const stored = await awaitStore(storing, stream.onBug);
    if (!stored.ok) return { records, failure: stored.failure };
  }
  pushAll(records, terminal);
  return { records, failure: null };
}

/** Stores the ID of the response once it is known. */
function identify({ translation, identify }: Stream): Promise<Result<void>> | null {
  const id = identify === undefined ? null : translation.identity?.() ?? null;
  return id === null ? null : identify?.(id) ?? null;
}

/** Records of one group, up to its terminal or a failure. */
interface Pushed {
  readonly records: StreamRecord[];
  /** Records that end the stream; null if it continues. */
  readonly terminal: readonly StreamRecord[] | null;
  readonly failure: Failure | null;
}

function pushGroup(
  { translation, onBug, onContent }: Stream,
  group: readonly (StreamRecord | null)[],
  budget: Budget | null,
): Pushed {
  const records: StreamRecord[] = [];
  for (const record of group) {
    const out = translate(translation, record, onBug);
    if (!out.ok) return { records, terminal: null, failure: out.failure };
    if (budget !== null && (out.value.length > 0 || translation.hasContent?.() === true)) {
      onContent?.();
    }
    if (translation.done()) return { records, terminal: out.value, failure: null };
    pushAll(records, out.value);
    const isWaiting = budget !== null && record !== null && records.length === 0;
    if (isWaiting && !budget.admits(record, translation.isHolding?.() ?? false)) {
      return { records, terminal: null, failure: TOO_MUCH_WAITING };
    }
  }
  return { records, terminal: null, failure: null };
}

/** Returns the failure of a response that the provider's filter has ended before any content. */
export function contentFiltered(): Failure {
  const message = "The filter of the provider ended the response before its content.";
  const error = { message, type: "invalid_request_error", param: null, code: "content_filter" };
  return fault("content_filtered", message, {
    upstream: { status: 400, headers: {}, error, raw: null },
  }).failure;
}

/** Failure of a stream of which nothing was large: it has begun with too much without content. */
export const TOO_MUCH_WAITING: Failure =
  responseTooLarge("The provider's stream began with too much that carries nothing.").failure;

/**
 * Translates one record. A codec that throws is a bug, and the client still receives one terminal.
 */
function translate(
  translation: StreamTranslation,
  record: StreamRecord | null,
  onBug: (error: unknown) => void,
): Result<readonly StreamRecord[]> {
  try {
    return record === null ? translation.end() : translation.push(record);
  } catch (error) {
    onBug(error);
    return internalFault();
  }
}

/** Waits for a store operation. A store that throws is a bug as well. */
async function awaitStore(
  storing: Promise<Result<void>>,
  onBug: (error: unknown) => void,
): Promise<Result<void>> {
  try {
    return await storing;
  } catch (error) {
    onBug(error);
    return internalFault();
  }
}
