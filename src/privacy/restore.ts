import { newPiecesTest, PIECE_CHARS } from "./pace.ts";
import { CONSONANTS, CORE_CHARS, MAX_LABEL_CHARS, newCorePattern, VOWELS } from "./token_form.ts";
import type { Span } from "../formats/edit.ts";
import type { TokenMap } from "./types.ts";

/** Number of syllables behind the first two letters of a core, except the last. */
const MAX_OPEN_SYLLABLES = (CORE_CHARS - 2) / 2 - 1;

/** The beginning of a core at the end of a text. */
const OPEN_CORE = new RegExp(
  `q(?:z(?:[${CONSONANTS}][${VOWELS}]){0,${MAX_OPEN_SYLLABLES}}[${CONSONANTS}]?)?$`,
  "i",
);

/** The first letter of a token in a text, also behind an escape of JSON. */
const MAY_BEGIN_TOKEN = /[qQ]|\\u00[57]1/;

/** An escape of JSON for a letter, which no token has in a text of a common encoder. */
const ESCAPED_LETTER = /\\u00[4-7]/;

/** True if a text, or the text that a JSON text encodes, may hold a token or begin one. */
export function mayBeginToken(text: string): boolean {
  return MAY_BEGIN_TOKEN.test(text);
}

/** True if a text, or the text that a JSON text encodes, may hold the core of a token. */
export function mayHaveToken(text: string): boolean {
  return ESCAPED_LETTER.test(text) || newCorePattern().test(text);
}

/** Characters behind a piece that its last token may have. */
const MAX_TOKEN_CHARS = CORE_CHARS + MAX_LABEL_CHARS;

/** The same, which can be interrupted. */
export const tokenMayBeIn = newPiecesTest(mayHaveToken, MAX_TOKEN_CHARS);

/** A word of a text in the form of a token. */
export interface FoundToken extends Span {
  /** Its value; null if it belongs to no value of the call. */
  readonly value: string | null;
}

/** Characters in which tokens begin that are found in one piece: each takes some µs. */
const TOKEN_PIECE_CHARS = PIECE_CHARS / 4;

/** Yields the tokens of a text that `findTokens` returns, those of one piece at a time. */
export function* tokenSteps(
  text: string,
  tokens: TokenMap,
): Generator<readonly FoundToken[], void, void> {
  for (let from = 0; from < text.length;) {
    const to = from + TOKEN_PIECE_CHARS;
    let next = to;
    const found: FoundToken[] = [];
    for (
      const { start, end, value } of findTokens(text.slice(from, to + MAX_TOKEN_CHARS), tokens)
    ) {
      if (from + start >= to) break;
      found.push({ start: from + start, end: from + end, value });
      next = Math.max(to, from + end);
    }
    from = next;
    yield found;
  }
}

/**
 * Returns the tokens of a text, in order. A label belongs to its token only where it follows at
 * once. A word in the form of a core that the map does not have stays: a damaged token is never
 * guessed.
 */
export function findTokens(text: string, tokens: TokenMap): FoundToken[] {
  const found: FoundToken[] = [];
  const pattern = newCorePattern();
  for (let core = pattern.exec(text); core !== null; core = pattern.exec(text)) {
    const token = tokens.get(core[0].toLowerCase());
    if (token !== undefined) {
      const labelEnd = pattern.lastIndex + token.label.length;
      const hasLabel = text.slice(pattern.lastIndex, labelEnd).toLowerCase() === token.label;
      if (hasLabel) pattern.lastIndex = labelEnd;
    }
    found.push({ start: core.index, end: pattern.lastIndex, value: token?.value ?? null });
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
