import { isFirstHalf } from "./surrogates.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Maximum length of a name in sums, reports, paths and repeated parts of a request or stream. */
export const MAX_NAME_CHARS = 256;

/**
 * Returns a name of a model, a property or a call as sums, reports and paths have it, which keep or
 * repeat it: its first 256 characters. Clients and providers choose names of any length.
 */
export function keptName(name: string): string {
  return textBeginning(name, MAX_NAME_CHARS);
}

/**
 * Returns a text without the longer one that it is a part of, which the engine would keep in memory
 * as long as the part.
 */
export function ownText(text: string): string {
  return decoder.decode(encoder.encode(text));
}

/**
 * Returns the beginning of a text, at most `maxChars` characters of it without half of one. The
 * beginning of a longer text is a copy: a slice would keep the whole text in memory as long as it
 * is kept itself.
 */
export function textBeginning(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text.toWellFormed();
  const end = isFirstHalf(text.charCodeAt(maxChars - 1)) ? maxChars - 1 : maxChars;
  return ownText(text.slice(0, end));
}
