import { textBeginning } from "../../core/text_beginning.ts";
import type { SpanAttribute } from "./conventions.ts";

/** Values of attributes as they are exported. */
export type AttributeValue = string | number | boolean | readonly string[];

/** Maximum length of a text, which clients and providers choose. */
const MAX_TEXT_CHARS = 256;

/** Maximum number of elements of a list. */
const MAX_ELEMENTS = 16;

/** Length from which V8 14 makes slices and concatenations that refer to other texts. */
const MIN_REFERRING_CHARS = 13;

/**
 * Returns the beginning of a text, 256 characters of it, as a text that refers to no other one. A
 * slice would keep the whole text in memory until the span is sent, and slices and concatenations
 * take `JSON.stringify` off its fast path, so that it takes two to three times as long.
 */
export function boundedText(text: string): string {
  return text.length < MIN_REFERRING_CHARS || text.length > MAX_TEXT_CHARS
    ? cutText(text)
    : JSON.parse(JSON.stringify(text));
}

/** Returns the beginning of a text that refers to no other one, such as one of parsed JSON. */
export function cutText(text: string): string {
  return text.length > MAX_TEXT_CHARS ? textBeginning(text, MAX_TEXT_CHARS) : text;
}

/**
 * Returns attributes within their bounds, without those that say nothing. A number that is not
 * exact is one of them: a collector refuses a batch with an integer beyond its range.
 */
export function boundedAttributes(
  attributes: Partial<Record<SpanAttribute, AttributeValue | undefined>>,
): Record<string, string | number | boolean | string[]> {
  const bounded: Record<string, string | number | boolean | string[]> = {};
  let name: keyof typeof attributes;
  for (name in attributes) {
    const value = attributes[name];
    if (typeof value === "string") bounded[name] = boundedValue(name, value);
    else if (typeof value === "number") {
      if (isExportable(value)) bounded[name] = value;
    } else if (typeof value === "boolean") bounded[name] = value;
    else if (value !== undefined && value.length > 0) {
      bounded[name] = value.slice(0, MAX_ELEMENTS).map(boundedText);
    }
  }
  return bounded;
}

/** Attributes that differ from span to span, and whose texts refer to no other ones. */
const UNIQUE = new Set(["switchyard.request_id", "gen_ai.response.id"]);

/** The last text of each other name: most spans have the same one as the span before. */
const lastTexts = new Map<string, string>();

/** Returns a bounded text, as `boundedText` does, which often is the last one with this name. */
export function boundedValue(name: SpanAttribute | "client" | "server", text: string): string {
  if (UNIQUE.has(name)) return cutText(text);
  const last = lastTexts.get(name);
  if (last === text) return last;
  const bounded = boundedText(text);
  lastTexts.set(name, bounded);
  return bounded;
}

function isExportable(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}
