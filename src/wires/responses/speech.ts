import type { StreamEvent } from "../../core/events.ts";
import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json.ts";
import { type Result, success } from "../../core/result.ts";
import { malformed } from "../compat_errors.ts";

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
  /** The next piece of a part. */
  add(kind: Spoken, place: Place, delta: string): Events;
  /** What of a whole part has not been said yet; fails when more has been said than it holds. */
  rest(kind: Spoken, place: Place, whole: string): Events;
  /** The next annotation of a text. */
  annotate(place: Place, annotation: JsonValue): readonly StreamEvent[];
  /** Those of the annotations of a whole text that have not been told yet. */
  restOfAnnotations(place: Place, whole: readonly JsonValue[]): readonly StreamEvent[];
}

interface Part extends Place {
  /** Length of the answer's text before this one. */
  readonly start: number;
  length: number;
  annotations: number;
}

/**
 * Chat has one text, one refusal and one reasoning, so the parts of each kind must come one after
 * the other: a piece of an earlier part is a failure, because it would stand in the wrong place.
 */
export function newSpeech(): Speech {
  const parts = new Map<string, Part>();
  const latest = new Map<Spoken, Part>();
  let textLength = 0;

  function partAt(kind: Spoken, { item, part }: Place): Part {
    const key = `${kind} ${item} ${part}`;
    const known = parts.get(key);
    if (known !== undefined) return known;
    const made = { item, part, start: textLength, length: 0, annotations: 0 };
    parts.set(key, made);
    return made;
  }

  function add(kind: Spoken, place: Place, delta: string): Events {
    if (delta === "") return success([]);
    const part = partAt(kind, place);
    const last = latest.get(kind);
    if (last !== undefined && isBefore(part, last)) {
      return malformed("parts that do not come one after the other");
    }
    latest.set(kind, part);
    part.length += delta.length;
    if (kind === "text") textLength += delta.length;
    return success([{ type: kind, delta }]);
  }

  function annotate(place: Place, annotation: JsonValue): readonly StreamEvent[] {
    const part = partAt("text", place);
    part.annotations += 1;
    return annotationOf(annotation, part.start);
  }

  return {
    add,
    rest(kind, place, whole) {
      const { length } = partAt(kind, place);
      return whole.length < length
        ? malformed("a part that is shorter than its pieces")
        : add(kind, place, whole.slice(length));
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

/** A web citation as Chat nests it, counted from the beginning of the answer; other kinds have no place there. */
function annotationOf(given: JsonValue, start: number): readonly StreamEvent[] {
  if (!isObject(given) || given.type !== "url_citation" || typeof given.url !== "string") return [];
  const { url, title } = given;
  const value: JsonObject = {
    type: "url_citation",
    url_citation: {
      url,
      title: typeof title === "string" ? title : "",
      start_index: start + (numberOf(given.start_index) ?? 0),
      end_index: start + (numberOf(given.end_index) ?? 0),
    },
  };
  return [{ type: "annotation", value }];
}
