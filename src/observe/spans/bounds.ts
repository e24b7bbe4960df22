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
  if (text.length > MAX_TEXT_CHARS) return textBeginning(text, MAX_TEXT_CHARS);
  return text.length < MIN_REFERRING_CHARS ? text : JSON.parse(JSON.stringify(text));
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
    if (typeof value === "string") bounded[name] = boundedText(value);
    else if (typeof value === "number") {
      if (isExportable(value)) bounded[name] = value;
    } else if (typeof value === "boolean") bounded[name] = value;
    else if (value !== undefined && value.length > 0) {
      bounded[name] = value.slice(0, MAX_ELEMENTS).map(boundedText);
    }
  }
  return bounded;
}

function isExportable(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}
