import { charsOf, type StreamRecord, type StreamReply } from "../core/stream/reply.ts";
import { pushAll } from "../core/push_all.ts";
import type { AnswerForm } from "./types.ts";
import type { AnswerText } from "./answer_text.ts";
import { atOnce, atPaceOf } from "../core/at_once.ts";
import type { Pace } from "./pace.ts";
import { type Delivered, newRecordRestorer } from "./restore_records.ts";
import { numberedAfter } from "./stop_records.ts";

/** Record sent while events are held, which a sign of life with a number would overtake. */
const COMMENT: StreamRecord = { event: null, data: "", raw: ": keep-alive\n\n" };

/** How a stream ends that is not delivered to its end. */
export interface StreamStop {
  /**
   * Called once when a rule refuses the answer or a search has thrown an error, with the group that
   * was searched. Ends the attempt; returns the terminal records that the client gets.
   */
  stop(error: unknown, group: readonly StreamRecord[]): readonly StreamRecord[];
  /** Called when the attempt has ended too. */
  stopped(): void;
  /** Returns the pace of a long event. */
  pace(): Pace;
  /** Called with the characters that parts of an event are replaced by, as they are found. */
  grown(chars: number): void;
  /** True if the call has ended though its client waits: a long event is not searched further. */
  isCancelled(): boolean;
  /** Returns the terminal records if the call has ended so before its last event was searched. */
  ended(): readonly StreamRecord[];
}

/** Events of a stream after a search. */
export interface Searched {
  readonly records: readonly StreamRecord[];
  /** True if one of them has text of the answer. */
  readonly hasText: boolean;
}

/** A stream after a search. */
export interface SearchedStream {
  readonly groups: AsyncGenerator<Searched, void, void>;
  /** Returns the characters that are held, with those of released events that are not taken yet. */
  heldChars(): number;
  readonly keepAlive?: NonNullable<StreamReply["keepAlive"]>;
}

/**
 * Returns the events of a stream after a search, none of them more or less. If the search stops the
 * stream, what it holds is not delivered, and the rest is read and dropped.
 */
export function searchStream(
  { records, keepAlive }: Pick<StreamReply, "records" | "keepAlive">,
  answer: AnswerText,
  form: AnswerForm,
  { stop, stopped, pace, grown, isCancelled, ended }: StreamStop,
): SearchedStream {
  /** Characters by which the events that are searched now grow. */
  let grownChars = 0;
  const restorer = newRecordRestorer({
    ...answer,
    count(part, isRepetition) {
      answer.count(part, isRepetition);
      const chars = part.text?.length ?? 0;
      grownChars += chars;
      grown(chars);
    },
  }, form);
  let isStopped = false;
  /** True while an event is searched, which a sign of life must not overtake. */
  let isSearching = false;
  /** The last event that was delivered, also of the signs of life. */
  let last: StreamRecord | null = null;
  let releasedChars = 0;
  /** True after an event that was not searched to its end, until events follow it. */
  let isCut = false;

  function deliver<Sent extends StreamRecord | null>(sent: Sent): Sent {
    if (sent !== null && sent.data !== "") last = sent;
    return sent;
  }

  /** Does the work with a long event; null if its call ends meanwhile. */
  function* finished(work: Generator<void, Delivered, void>) {
    // The events behind the end of a call say how it has ended.
    const wasCancelled = isCancelled();
    for (let step = work.next();; step = work.next()) {
      if (step.done === true) return step.value;
      if (!wasCancelled && isCancelled()) return null;
      yield;
    }
  }

  /** Returns the events that a group or, with null, the end of the stream sets free. */
  function* push(group: readonly StreamRecord[] | null): Generator<void, Searched, void> {
    const records: StreamRecord[] = [];
    let hasText = false;
    try {
      for (const record of group ?? [null]) {
        const pushed = record === null ? restorer.end() : restorer.push(record);
        const step = "records" in pushed ? pushed : yield* finished(pushed);
        isCut = step === null;
        if (step === null || answer.isRefused()) break;
        pushAll(records, step.records);
        hasText ||= step.hasText;
      }
    } catch (error) {
      return stopAt(group, error ?? new Error("the search has failed"));
    }
    if (answer.isRefused()) return stopAt(group, null);
    deliver(records.findLast(({ data }) => data !== "") ?? null);
    return { records, hasText };
  }

  function stopAt(group: readonly StreamRecord[] | null, error: unknown): Searched {
    isStopped = true;
    return { records: numberedAfter(last, stop(error, group ?? [])), hasText: true };
  }

  async function* groups(): AsyncGenerator<Searched, void, void> {
    for await (const group of records) {
      if (isStopped) continue;
      isSearching = true;
      const work = atPaceOf(pace, push(group));
      const searched = work instanceof Promise ? await work : work;
      isSearching = false;
      grownChars = 0;
      releasedChars = Math.max(0, charsOf(searched.records) - charsOf(group));
      if (isStopped || searched.records.length > 0) yield searched;
      releasedChars = 0;
    }
    // The stream was over for the provider, but its client has not had all of it.
    if (isCut) return yield { records: numberedAfter(last, ended()), hasText: true };
    const rest = isStopped ? null : atOnce(push(null));
    if (rest !== null && (isStopped || rest.records.length > 0)) yield rest;
    if (isStopped) stopped();
  }

  return {
    groups: groups(),
    heldChars: () => restorer.heldChars() + grownChars + releasedChars,
    ...keepAlive !== undefined && {
      keepAlive: () => isSearching || restorer.isHolding() ? COMMENT : deliver(keepAlive()),
    },
  };
}
