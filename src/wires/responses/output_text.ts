import type { StreamEvent } from "../../core/stream/events.ts";
import type { JsonObject, JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { malformed } from "../openai/errors.ts";
import { nestedCitation } from "./citations.ts";

type Events = Result<readonly StreamEvent[]>;

/** The field of Chat's message that a part belongs to. */
export type TextKind = "text" | "refusal" | "reasoning";

/** The position of a part: the index of its item, and its index in the item. */
export interface ItemPosition {
  readonly item: number;
  readonly part: number;
}

/** The text of a response so far, part by part. */
export interface OutputText {
  /** Returns the events of the next delta of a part, with its logprobs if sent. */
  add(kind: TextKind, place: ItemPosition, delta: string, tokens: Tokens): Events;
  /**
   * Returns the events of the rest of a complete part. Fails if the deltas so far are longer than
   * the part.
   */
  rest(kind: TextKind, place: ItemPosition, whole: string, tokens: Tokens): Events;
  /** Returns the event of the next annotation of a text. */
  annotate(place: ItemPosition, annotation: JsonValue): readonly StreamEvent[];
  /** Returns the events of the annotations of a complete text that were not emitted yet. */
  restOfAnnotations(place: ItemPosition, whole: readonly JsonValue[]): readonly StreamEvent[];
  /** Returns the number of parts. */
  parts(): number;
}

type Tokens = readonly JsonObject[];

interface Part extends ItemPosition {
  /** Length of the response text before this part. */
  readonly start: number;
  length: number;
  annotations: number;
  tokens: number;
}

/**
 * Returns the text tracker of a new response. Chat has one text, one refusal and one reasoning, so
 * the parts of each kind must arrive in order: a delta of an earlier part is a failure, because its
 * text would be in the wrong position.
 */
export function newSpeech(): OutputText {
  const parts = new Map<string, Part>();
  const latest = new Map<TextKind | "tokens", Part>();
  let textLength = 0;

  function partAt(kind: TextKind, { item, part }: ItemPosition): Part {
    const key = `${kind} ${item} ${part}`;
    const known = parts.get(key);
    if (known !== undefined) return known;
    const made = { item, part, start: textLength, length: 0, annotations: 0, tokens: 0 };
    parts.set(key, made);
    return made;
  }

  /** True if a part may append to a list that the response has once for all parts. */
  function follows(list: TextKind | "tokens", part: Part): boolean {
    const last = latest.get(list);
    if (last !== undefined && isBefore(part, last)) return false;
    latest.set(list, part);
    return true;
  }

  function add(kind: TextKind, place: ItemPosition, delta: string, tokens: Tokens): Events {
    if (delta === "" && tokens.length === 0) return success([]);
    const part = partAt(kind, place);
    const isNext = (delta === "" || follows(kind, part)) &&
      (tokens.length === 0 || follows("tokens", part));
    if (!isNext) return malformed("parts that do not come one after the other");
    part.length += delta.length;
    part.tokens += tokens.length;
    if (kind !== "text") return success([{ type: kind, delta }]);
    textLength += delta.length;
    return success([{ type: kind, delta, ...tokens.length > 0 && { logprobs: tokens } }]);
  }

  function annotate(place: ItemPosition, annotation: JsonValue): readonly StreamEvent[] {
    const part = partAt("text", place);
    part.annotations += 1;
    const value = nestedCitation(annotation, part.start);
    return value === null ? [] : [{ type: "annotation", value }];
  }

  return {
    add,
    rest(kind, place, whole, tokens) {
      const current = partAt(kind, place);
      return whole.length < current.length
        ? malformed("a part that is shorter than its pieces")
        : add(kind, place, whole.slice(current.length), tokens.slice(current.tokens));
    },
    annotate,
    parts: () => parts.size,
    restOfAnnotations: (place, whole) =>
      whole.slice(partAt("text", place).annotations)
        .flatMap((annotation) => annotate(place, annotation)),
  };
}

function isBefore(one: ItemPosition, other: ItemPosition): boolean {
  return one.item < other.item || (one.item === other.item && one.part < other.part);
}
