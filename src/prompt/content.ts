import type { Content, FieldRef, Part, TextPart } from "./prompt.ts";

/** Returns a content of one text, which is a string, as is no content at all. */
export function textContent(text: string, at: FieldRef): Content {
  return { at, isString: true, parts: [textPart(text, at)] };
}

/**
 * Returns the content of these parts. Many servers accept only a string for content of a single
 * text.
 */
export function contentOf(parts: readonly Part[], at: FieldRef): Content {
  const [first] = parts;
  if (first === undefined) return textContent("", at);
  return { at, isString: parts.length === 1 && first.kind === "text", parts };
}

/** Returns a part of this text. */
export function textPart(text: string, at: FieldRef): TextPart {
  return { kind: "text", text, at, cache: null, breakpoint: null };
}
