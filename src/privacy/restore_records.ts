import { type JsonValue, parseJson } from "../core/json/json.ts";
import { pushAll } from "../core/push_all.ts";
import { charsOf, type StreamRecord } from "../core/stream/reply.ts";
import { tooLargeSteps } from "../formats/parse_limits.ts";
import { editRecord } from "../formats/edit_record.ts";
import { replaceString, replaceStringSteps, walkStrings } from "./answer_strings.ts";
import { type Edit, MAX_SPLICED_CHARS, type Span } from "../formats/edit.ts";
import { kindOf } from "./answer_members.ts";
import type { AnswerForm } from "./types.ts";
import type { AnswerText, TextKind } from "./answer_text.ts";
import { type Channel, newChannel, type Slot } from "./channel.ts";
import { type EventChannels, eventChannels, STREAM_END } from "./event_channels.ts";
import { finishText, formFor, textSteps } from "./finish.ts";
import { objectsOf, parseSteps } from "./json_strings.ts";
import { mayHaveLogprobs, withoutLogprobs } from "./logprobs.ts";
import { mayHavePosition, newWholeMover, type Position, positionEdits } from "./positions.ts";
import { atOnce } from "../core/at_once.ts";
import { mayBeginToken } from "./restore.ts";
import { newStreamPositions } from "./stream_positions.ts";

/** Maximum number of events that are held, and of the characters of those behind the first. */
const MAX_HELD_EVENTS = 256, MAX_HELD_CHARS = 1024 * 1024;

/**
 * Maximum number of events of one text that are held: for tokens, and for the longer words that may
 * be matches of rules, which mostly are none and then arrive in the events that have brought them.
 */
const MAX_TOKEN_EVENTS = 2, MAX_MATCH_EVENTS = 128;

/**
 * Maximum number of texts of a stream that are open at the same time. Further strings are whole.
 */
const MAX_CHANNELS = 1_024;

/** A string of a held event that is not decided. */
interface Piece extends Slot {
  readonly literal: Span;
  readonly received: string;
}

/** Characters of a string that are searched in one piece. */
const STEP_CHARS = 32 * 1024;

/** A string of an event that is searched. */
interface FoundString {
  readonly literal: Span;
  readonly string: string;
  readonly kind: TextKind;
  /** The name of the text that it continues; null if it is whole. */
  readonly name: string | null;
}

/** An event that is not delivered yet. */
interface HeldRecord {
  readonly record: StreamRecord;
  readonly edits: Edit[];
  readonly pieces: readonly Piece[];
  /** Edits that are known when the texts before the event are decided. */
  positions(): readonly Edit[];
}

/** Records delivered after an event of a stream. */
export interface Delivered {
  readonly records: StreamRecord[];
  /** True if one of the records has text of the answer. */
  readonly hasText: boolean;
}

/** Restores the events of one stream: their number, order and identities stay. */
export interface RecordRestorer {
  /** Adds an event. A long one is added in pieces. */
  push(record: StreamRecord): Delivered | Generator<void, Delivered, void>;
  /** Returns what is held at the end of the stream. */
  end(): Delivered;
  isHolding(): boolean;
  /** Returns the characters of the events that are held. */
  heldChars(): number;
}

/**
 * Returns the restorer of a stream. Events behind held text wait for it; beyond the limit the text
 * is delivered as it is, or the answer is refused if a rule holds it.
 */
export function newRecordRestorer(answer: AnswerText, form: AnswerForm): RecordRestorer {
  const channels = new Map<string, Channel>();
  const held: HeldRecord[] = [];
  let heldChars = 0;
  const positions = newStreamPositions();
  const documentForm = formFor(answer, form);
  const maxHeld = answer.searchesAll ? MAX_MATCH_EVENTS : MAX_TOKEN_EVENTS;

  /** Adds an event; the rest of the work if it is long. */
  function add(record: StreamRecord): Generator<void, void, void> | null {
    const { data } = record;
    if (data.length > STEP_CHARS) return addLong(record);
    const value = data === "" || data === "[DONE]" ? undefined : parseJson(data);
    if (value !== undefined) return addEvent(record, value);
    addText(record, data === "" ? data : finishText(answer, data, "plain"));
    return null;
  }

  function* addLong(record: StreamRecord): Generator<void, void, void> {
    const { data } = record;
    // What has no outline is small enough to be parsed at once; what has one is JSON.
    const isScanned = record.outline !== undefined;
    const isTooLarge = isScanned && (yield* tooLargeSteps(data));
    const value = isTooLarge ? undefined : isScanned ? yield* parseSteps(data) : parseJson(data);
    if (value !== undefined) return yield* addEvent(record, value) ?? [];
    addText(record, yield* textSteps(answer, data, isTooLarge ? "json" : "plain"));
  }

  /** Adds an event that is no JSON, or too large to be parsed. */
  function addText(record: StreamRecord, finished: string): void {
    const isSame = finished === record.data;
    hold({
      record: isSame ? record : { ...record, data: finished, raw: null },
      edits: [],
      pieces: [],
    });
    if (record.data === "[DONE]") endChannels(STREAM_END, new Set());
  }

  /** Adds an event by its value; the rest of the work if it is long. */
  function addEvent(
    record: StreamRecord,
    value: JsonValue,
  ): Generator<void, void, void> | null {
    const event = eventChannels(value);
    const edits: Edit[] = [];
    const pieces: Piece[] = [];
    const touched = new Set<string>();
    /** Adds a piece of a text to its channel, which gets the string next. */
    function addPiece({ name, kind, literal, string }: FoundString & { readonly name: string }) {
      touched.add(name);
      let channel = channels.get(name);
      if (channel === undefined) channels.set(name, channel = newOpenChannel(name, kind));
      const piece: Piece = { literal, received: string, text: "", isOpen: true };
      pieces.push(piece);
      return { channel, piece };
    }

    let long: FoundString[] = [];
    const walk = walkStrings(record.data, objectsOf(value), (string, place) => {
      const kind = kindOf(place, string, form);
      if (kind === null) return;
      const { start, end } = place;
      const isWhole = place.isKey || place.isNumber || kind === "sealed";
      const text = isWhole ? null : event.channelOf(place.path);
      const isKnown = text !== null && (channels.size < MAX_CHANNELS || channels.has(text));
      const name = isKnown ? text : null;
      // What is behind a long string of the event waits for it.
      if (long.length > 0 || string.length > STEP_CHARS) {
        long.push({ literal: { start, end }, string, kind, name });
      } else if (name === null) {
        const finished = finishText(answer, string, kind, event.isRepetition);
        if (finished !== string) edits.push(replaceString(place, finished));
      } else if (string !== "") {
        const { channel, piece } = addPiece({ literal: { start, end }, string, kind, name });
        channel.push(piece, string);
      }
    });

    function* steps(): Generator<void, void, void> {
      for (let isDone = false; !isDone;) {
        isDone = walk.next().done === true;
        for (const { literal, string, kind, name } of long) {
          if (name === null) {
            const finished = yield* textSteps(answer, string, kind, event.isRepetition);
            if (finished !== string) edits.push(yield* replaceStringSteps(literal, finished));
          } else if (string !== "") {
            const { channel, piece } = addPiece({ literal, string, kind, name });
            for (let at = 0; at < string.length; at += STEP_CHARS) {
              channel.push(piece, string.slice(at, at + STEP_CHARS));
              yield;
            }
          }
        }
        long = [];
        if (!isDone) yield;
      }
      if (hasLogprobs) yield* withoutLogprobs(record.data, (edit) => edits.push(edit));
      end();
    }

    function end(): void {
      hold({ record, edits, pieces, positions: () => editsOfPositions(record, value, event) });
      endChannels(event, touched);
    }

    const hasLogprobs = answer.hidesLogprobs && mayHaveLogprobs(record.data);
    if (record.data.length > STEP_CHARS) return steps();
    atOnce(walk);
    if (hasLogprobs) atOnce(withoutLogprobs(record.data, (edit) => edits.push(edit)));
    end();
    return null;
  }

  function newOpenChannel(name: string, kind: TextKind): Channel {
    return newChannel(
      answer,
      kind,
      maxHeld,
      (text, parts) => positions.decided(name, text, parts),
    );
  }

  function editsOfPositions(
    { data }: StreamRecord,
    value: JsonValue,
    event: EventChannels,
  ): readonly Edit[] {
    if (!mayHavePosition(data)) return [];
    const moveInWhole = newWholeMover(answer, form);
    const moveIn = (position: Position) => {
      const text = event.annotated(position.path);
      return text === null
        ? moveInWhole(position)
        : positions.moved(text, position.at, position.isEnd);
    };
    const edits: Edit[] = [];
    atOnce(
      positionEdits(data, objectsOf(value), documentForm, moveIn, (edit) => edits.push(edit)),
    );
    return edits;
  }

  function hold(
    { positions = () => [], ...one }: Omit<HeldRecord, "positions"> & Partial<HeldRecord>,
  ): void {
    held.push({ ...one, positions });
    heldChars += charsOf([one.record]);
  }

  function endChannels(event: EventChannels, touched: ReadonlySet<string>): void {
    for (const [name, channel] of channels) {
      if (event.isEnded(name, touched)) channel.end();
      // Without rules nothing is known of a text of which nothing is held.
      if (!answer.searchesAll && !channel.isHolding()) channels.delete(name);
    }
    if (channels.size >= MAX_CHANNELS) endAll();
  }

  function endAll(): void {
    for (const channel of channels.values()) channel.end();
    channels.clear();
  }

  function release(): Delivered {
    const decided = releaseDecided();
    // The first event waits for its own last word, however long it is.
    const [first] = held;
    const waitingChars = first === undefined ? 0 : heldChars - charsOf([first.record]);
    if (held.length <= MAX_HELD_EVENTS && waitingChars <= MAX_HELD_CHARS) return decided;
    answer.refuse();
    endAll();
    const { records, hasText } = releaseDecided();
    return { records: [...decided.records, ...records], hasText: decided.hasText || hasText };
  }

  function releaseDecided(): Delivered {
    const records: StreamRecord[] = [];
    let hasText = false;
    let count = 0;
    let newChars = 0;
    for (const one of held) {
      if (one.pieces.some(({ isOpen }) => isOpen)) break;
      count += 1;
      // Before any text is written: values may be thousands of times as long as their tokens.
      for (const { text } of [...one.edits, ...one.pieces]) newChars += text.length;
      if (newChars > MAX_SPLICED_CHARS) throw new RangeError("the events become too long");
      hasText ||= one.pieces.length > 0;
      heldChars -= charsOf([one.record]);
      records.push(finished(one));
    }
    held.splice(0, count);
    return { records, hasText };
  }

  /** True if an event may have what changes: the text of an answer, or a position in it. */
  function isLookedAt(data: string): boolean {
    if (answer.searchesAll || mayBeginToken(data)) return true;
    return (positions.hasMoved() || form.documents !== undefined) && mayHavePosition(data);
  }

  return {
    push(record) {
      if (held.length === 0 && !isLookedAt(record.data)) {
        const rest = positions.passed(record.data);
        const delivered = { records: [record], hasText: true };
        return rest === null ? delivered : after(rest, () => delivered);
      }
      const rest = add(record);
      return rest === null ? release() : after(rest, release);
    },
    end() {
      endAll();
      return release();
    },
    isHolding: () => held.length > 0,
    heldChars: () => heldChars,
  };
}

/** Does the rest of some work; returns what comes of it. */
function* after<Value>(rest: Generator<void, void, void>, value: () => Value) {
  yield* rest;
  return value();
}

function finished({ record, edits, pieces, positions }: HeldRecord): StreamRecord {
  pushAll(edits, positions());
  for (const { literal, received, text } of pieces) {
    if (text !== received) edits.push(replaceString(literal, text));
  }
  return edits.length === 0 ? record : editRecord(record, edits);
}
