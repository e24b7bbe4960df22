import { isObject, type JsonObject, type JsonValue, numberOf } from "../../../core/json/json.ts";

/** Output event without its sequence number, which the encoder adds. */
export interface OutputEvent extends JsonObject {
  readonly type: string;
}

/** ID and output index of an item, equal in every event and in the Response object. */
export interface ItemPosition {
  readonly id: string;
  readonly index: number;
}

/** Types of the content parts that the gateway generates (Responses API, content parts). */
export type PartKind = "output_text" | "refusal" | "reasoning_text";

/** Content of one item under construction: a list of parts, of which only the last can be open. */
export interface Content {
  /** Appends to the open part of that kind; an open part of another kind is closed first. */
  append(kind: PartKind, delta: string): readonly OutputEvent[];
  /**
   * Adds an annotation to the open text part; ignored without such a part or if it is no citation.
   */
  annotate(annotation: JsonObject): readonly OutputEvent[];
  /** Closes the open part. */
  close(): readonly OutputEvent[];
  /** Returns the parts with the text received until now. */
  value(): JsonObject[];
  /** Returns the text of all parts. */
  text(): string;
}

/** Event name prefix and text member of each part type. */
const PART_NAMES = {
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
 * Creates the content of an item. `textBefore` is the length of the response text before this item,
 * in characters: upstream annotations count from the start of the response, but generated
 * annotations count from the start of their part.
 */
export function newContent({ id, index }: ItemPosition, textBefore = 0): Content {
  const parts: Part[] = [];
  let open: Part | null = null;
  let textLength = textBefore;

  /** Returns the position members that every event of the last part has. */
  function at(): JsonObject {
    return { item_id: id, output_index: index, content_index: parts.length - 1 };
  }

  function begin(kind: PartKind): OutputEvent {
    const part: Part = { kind, text: "", annotations: [] };
    parts.push(part);
    open = part;
    return { type: "response.content_part.added", ...at(), part: valueOf(part) };
  }

  function close(): readonly OutputEvent[] {
    if (open === null) return [];
    const part = open;
    open = null;
    if (part.kind === "output_text") textLength += part.text.length;
    const { event, member } = PART_NAMES[part.kind];
    return [
      { type: `${event}.done`, ...at(), [member]: part.text, ...logprobsOf(part.kind) },
      { type: "response.content_part.done", ...at(), part: valueOf(part) },
    ];
  }

  return {
    append(kind, delta) {
      const before = open?.kind === kind ? [] : [...close(), begin(kind)];
      if (open !== null) open.text += delta;
      if (delta === "") return before;
      const type = `${PART_NAMES[kind].event}.delta`;
      return [...before, { type, ...at(), delta, ...logprobsOf(kind) }];
    },
    annotate(citation) {
      const annotation = flatAnnotation(citation, textLength);
      if (open?.kind !== "output_text" || annotation === null) return [];
      const annotation_index = open.annotations.push(annotation) - 1;
      const type = "response.output_text.annotation.added";
      return [{ type, ...at(), annotation_index, annotation }];
    },
    close,
    value: () => parts.map(valueOf),
    text: () => parts.map(({ text }) => text).join(""),
  };
}

function logprobsOf(kind: PartKind): { readonly logprobs?: JsonValue[] } {
  return kind === "output_text" ? { logprobs: [] } : {};
}

function valueOf({ kind, text, annotations }: Part): JsonObject {
  const part = { type: kind, [PART_NAMES[kind].member]: text };
  return kind === "output_text" ? { ...part, annotations: [...annotations], logprobs: [] } : part;
}

/**
 * Returns a web citation of Chat Completions in flat form, relative to `start`; null for any other
 * type.
 */
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
