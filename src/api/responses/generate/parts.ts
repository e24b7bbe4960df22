import { isObject, type JsonObject, type JsonValue, numberOf } from "../../../core/json/json.ts";

/** An event without its number: that is given when it goes out. */
export interface Said extends JsonObject {
  readonly type: string;
}

/** What an output item is called and where it stands, in every event and in the resource. */
export interface Place {
  readonly id: string;
  readonly index: number;
}

/** The kinds of content that are generated (Responses API, content parts). */
export type PartKind = "output_text" | "refusal" | "reasoning_text";

/** The content of one item while it is being made: parts one after the other, the last one open. */
export interface Content {
  /** Adds to the open part of that kind; another open part is closed first. */
  say(kind: PartKind, delta: string): readonly Said[];
  /** Adds an annotation to the open text; nothing when none is open, or it has no place there. */
  annotate(annotation: JsonObject): readonly Said[];
  /** Closes the open part. */
  close(): readonly Said[];
  /** The parts as far as they have come. */
  value(): JsonObject[];
}

/** The first piece of an event's name, and the member that holds what is said. */
const WORDS = {
  output_text: { event: "response.output_text", member: "text" },
  refusal: { event: "response.refusal", member: "refusal" },
  reasoning_text: { event: "response.reasoning_text", member: "text" },
} as const;

interface Part {
  readonly kind: PartKind;
  text: string;
  readonly annotations: JsonValue[];
}

/**
 * Content of the item at `place`. `textBefore` is the length of the answer's text before this item:
 * annotations count from the beginning of the answer, and here from that of their part.
 */
export function contentOf({ id, index }: Place, textBefore = 0): Content {
  const parts: Part[] = [];
  let open: Part | null = null;
  let textLength = textBefore;

  /** What every event of the last part says of its place. */
  function at(): JsonObject {
    return { item_id: id, output_index: index, content_index: parts.length - 1 };
  }

  function begin(kind: PartKind): Said {
    const part: Part = { kind, text: "", annotations: [] };
    parts.push(part);
    open = part;
    return { type: "response.content_part.added", ...at(), part: valueOf(part) };
  }

  function close(): readonly Said[] {
    if (open === null) return [];
    const part = open;
    open = null;
    if (part.kind === "output_text") textLength += part.text.length;
    const { event, member } = WORDS[part.kind];
    return [
      { type: `${event}.done`, ...at(), [member]: part.text, ...logprobsOf(part.kind) },
      { type: "response.content_part.done", ...at(), part: valueOf(part) },
    ];
  }

  return {
    say(kind, delta) {
      const before = open?.kind === kind ? [] : [...close(), begin(kind)];
      if (open !== null) open.text += delta;
      if (delta === "") return before;
      const type = `${WORDS[kind].event}.delta`;
      return [...before, { type, ...at(), delta, ...logprobsOf(kind) }];
    },
    annotate(given) {
      const annotation = flatAnnotation(given, textLength);
      if (open?.kind !== "output_text" || annotation === null) return [];
      const annotation_index = open.annotations.push(annotation) - 1;
      const type = "response.output_text.annotation.added";
      return [{ type, ...at(), annotation_index, annotation }];
    },
    close,
    value: () => parts.map(valueOf),
  };
}

function logprobsOf(kind: PartKind): { readonly logprobs?: JsonValue[] } {
  return kind === "output_text" ? { logprobs: [] } : {};
}

function valueOf({ kind, text, annotations }: Part): JsonObject {
  const said = { type: kind, [WORDS[kind].member]: text };
  return kind === "output_text" ? { ...said, annotations: [...annotations], logprobs: [] } : said;
}

/** A web citation of Chat Completions, flat and counted from `start`; null for any other kind. */
function flatAnnotation(
  { type, url_citation: cited }: JsonObject,
  start: number,
): JsonObject | null {
  if (type !== "url_citation" || !isObject(cited) || typeof cited.url !== "string") return null;
  const from = (value: unknown) => Math.max(Math.trunc(numberOf(value) ?? 0) - start, 0);
  return {
    type,
    url: cited.url,
    title: typeof cited.title === "string" ? cited.title : "",
    start_index: from(cited.start_index),
    end_index: from(cited.end_index),
  };
}
