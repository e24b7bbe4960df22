import type { StreamEvent } from "../../core/events.ts";
import type { JsonObject, JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { malformed } from "../openai/errors.ts";
import { nestedCitation } from "./citations.ts";

type Events = Result<readonly StreamEvent[]>;

/** What of Chat's message a part is a piece of. */
export type Spoken = "text" | "refusal" | "reasoning";

/** Where a part stands: the number of its item, and its own in the item. */
export interface Place {
  readonly item: number;
  readonly part: number;
}

/** What a response has said so far, part by part. */
export interface Speech {
  /** The next piece of a part, with its tokens where they are told. */
  add(kind: Spoken, place: Place, delta: string, tokens: Tokens): Events;
  /** What of a whole part has not been said yet; fails when more has been said than it holds. */
  rest(kind: Spoken, place: Place, whole: string, tokens: Tokens): Events;
  /** The next annotation of a text. */
  annotate(place: Place, annotation: JsonValue): readonly StreamEvent[];
  /** Those of the annotations of a whole text that have not been told yet. */
  restOfAnnotations(place: Place, whole: readonly JsonValue[]): readonly StreamEvent[];
}

type Tokens = readonly JsonObject[];

interface Part extends Place {
  /** Length of the answer's text before this one. */
  readonly start: number;
  length: number;
  annotations: number;
  tokens: number;
}

/**
 * Chat has one text, one refusal and one reasoning, so the parts of each kind must come one after
 * the other: a piece of an earlier part is a failure, because it would stand in the wrong place.
 */
export function newSpeech(): Speech {
  const parts = new Map<string, Part>();
  const latest = new Map<Spoken | "tokens", Part>();
  let textLength = 0;

  function partAt(kind: Spoken, { item, part }: Place): Part {
    const key = `${kind} ${item} ${part}`;
    const known = parts.get(key);
    if (known !== undefined) return known;
    const made = { item, part, start: textLength, length: 0, annotations: 0, tokens: 0 };
    parts.set(key, made);
    return made;
  }

  /** Whether a part may go on in a list that the answer has once for all of them. */
  function follows(list: Spoken | "tokens", part: Part): boolean {
    const last = latest.get(list);
    if (last !== undefined && isBefore(part, last)) return false;
    latest.set(list, part);
    return true;
  }

  function add(kind: Spoken, place: Place, delta: string, tokens: Tokens): Events {
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

  function annotate(place: Place, annotation: JsonValue): readonly StreamEvent[] {
    const part = partAt("text", place);
    part.annotations += 1;
    const value = nestedCitation(annotation, part.start);
    return value === null ? [] : [{ type: "annotation", value }];
  }

  return {
    add,
    rest(kind, place, whole, tokens) {
      const told = partAt(kind, place);
      return whole.length < told.length
        ? malformed("a part that is shorter than its pieces")
        : add(kind, place, whole.slice(told.length), tokens.slice(told.tokens));
    },
    annotate,
    restOfAnnotations: (place, whole) =>
      whole.slice(partAt("text", place).annotations)
        .flatMap((annotation) => annotate(place, annotation)),
  };
}

function isBefore(one: Place, other: Place): boolean {
  return one.item < other.item || (one.item === other.item && one.part < other.part);
}
