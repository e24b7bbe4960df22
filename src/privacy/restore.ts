import {
  CONSONANTS,
  CORE_CHARS,
  MAX_LABEL_CHARS,
  newCorePattern,
  SYLLABLES,
  VOWELS,
} from "./token_form.ts";
import type { TokenMap } from "./types.ts";

/** Part of a text that another text replaces. */
export interface Replaced {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The beginning of a core at the end of a text. */
const OPEN_CORE = new RegExp(
  `q(?:z(?:[${CONSONANTS}][${VOWELS}]){0,${SYLLABLES - 1}}[${CONSONANTS}]?)?$`,
  "i",
);

/** What a text has at least that holds a token, in a JSON text also behind an escape. */
const MAY_HAVE_TOKEN = /[qQ]|\\u00[57]1/;

/** True if a text, or the text that a JSON text encodes, may hold a token or begin one. */
export function mayHaveToken(text: string): boolean {
  return MAY_HAVE_TOKEN.test(text);
}

/**
 * Returns the tokens of a text with their values, in order. A label belongs to its token only where
 * it follows at once. `onUnknown` is called for each word in the form of a core that the map does
 * not have, which stays as it is: a damaged token is never guessed.
 */
export function findTokens(
  text: string,
  tokens: TokenMap,
  onUnknown = (_start: number, _end: number) => {},
): Replaced[] {
  const found: Replaced[] = [];
  const pattern = newCorePattern();
  for (let core = pattern.exec(text); core !== null; core = pattern.exec(text)) {
    const token = tokens.get(core[0].toLowerCase());
    if (token === undefined) {
      onUnknown(core.index, pattern.lastIndex);
      continue;
    }
    const labelEnd = pattern.lastIndex + token.label.length;
    const hasLabel = text.slice(pattern.lastIndex, labelEnd).toLowerCase() === token.label;
    if (hasLabel) pattern.lastIndex = labelEnd;
    found.push({ start: core.index, end: pattern.lastIndex, text: token.value });
  }
  return found;
}

/**
 * Returns where the end of an unfinished text begins that could be the beginning of a token, or a
 * token whose label may follow; the length of the text if there is none.
 */
export function tokenHeldFrom(text: string, tokens: TokenMap): number {
  const from = Math.max(0, text.length - CORE_CHARS - MAX_LABEL_CHARS + 1);
  const end = text.slice(from);
  for (const { 0: core, index } of end.matchAll(newCorePattern())) {
    const label = tokens.get(core.toLowerCase())?.label ?? "";
    const rest = end.slice(index + CORE_CHARS).toLowerCase();
    if (rest.length < label.length && label.startsWith(rest)) return from + index;
  }
  const open = OPEN_CORE.exec(end);
  return open === null ? text.length : from + open.index;
}

/** Returns the text with these parts replaced, which are in order and do not overlap. */
export function replaceParts(text: string, parts: readonly Replaced[]): string {
  let result = "";
  let at = 0;
  for (const part of parts) {
    result += text.slice(at, part.start) + part.text;
    at = part.end;
  }
  return result + text.slice(at);
}
