import { WORD_CHARACTER } from "../config/privacy_schema.ts";
import { isFirstHalf, isSecondHalf } from "../core/surrogates.ts";
import { skipEscape } from "./detectors/characters.ts";
import type { Finder } from "./types.ts";

/** A phrase by its first word: what is before and behind that word, folded. */
interface Phrase {
  readonly before: string;
  readonly first: string;
  /** Text after the first word; any white space is one blank. */
  readonly rest: string;
}

/** Phrases with the same first word: what is behind it, in order, by what is before it. */
type Rests = Map<string, string[]>;

/** Accents that follow the letter that they belong to. */
const FIRST_ACCENT_CODE = 0x300, LAST_ACCENT_CODE = 0x36f;

const WORD = new RegExp(`(?:${WORD_CHARACTER.source}[\u0300-\u036f]*)+`, "u");

/** Longest white space between two words of a phrase, in characters. */
const MAX_BLANK_CHARS = 8;

const NON_ASCII_CODE = 128;

const UNKNOWN_CODE = 0, PART_CODE = 1, OTHER_CODE = 2;

const ASCII = /^[\0-\x7f]*$/;

/**
 * Returns a text with one letter case, one sigma, as a word in lower case ends with another, and
 * with accents as characters of their own, as which either text may have them. A capital ẞ is only
 * in lower case the letter whose other case is SS, and the dot of a Turkish İ is that of an i.
 */
function fold(text: string): string {
  return ASCII.test(text)
    ? text.toLowerCase()
    : text.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFD")
      .replaceAll("i\u0307", "i");
}

/** Characters that one character of a phrase may be in another letter case, at most. */
const MAX_FOLDED_CHARS = 3;

/** Whether each UTF-16 code unit is a part of words, as far as it was looked at. */
const KINDS = new Uint8Array(65_536);

function isWordPart(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  // Also for the place before a text and behind it.
  if (Number.isNaN(code)) return false;
  const isSecond = isSecondHalf(code);
  if (isSecond || isFirstHalf(code)) {
    const begin = isSecond ? at - 1 : at;
    return WORD_CHARACTER.test(text.slice(Math.max(0, begin), begin + 2));
  }
  if (KINDS[code] === UNKNOWN_CODE) {
    const isAccent = code >= FIRST_ACCENT_CODE && code <= LAST_ACCENT_CODE;
    const isPart = isAccent || WORD_CHARACTER.test(String.fromCharCode(code));
    KINDS[code] = isPart ? PART_CODE : OTHER_CODE;
  }
  return KINDS[code] === PART_CODE;
}

/**
 * Returns the finder of whole words and phrases, whatever their letter case. It looks up each word
 * of a text, so its time does not grow with the number of words that it looks for.
 */
export function newWordFinder(label: string, words: readonly string[]): Finder {
  const phrases = new Map<string, Rests>();
  const lengths = new Set<number>();
  /** False if a word in another letter case may be longer or shorter. */
  const isAscii = words.every((word) => ASCII.test(word));
  /** ASCII characters with which a first word may begin; of all others any may. */
  const beginnings = new Set<number>();
  for (const word of words) {
    const phrase = parsePhrase(word);
    if (phrase === null) continue;
    const { before, first, rest } = phrase;
    const known: Rests = phrases.get(first) ?? new Map();
    const rests = known.get(before) ?? [];
    rests.push(rest);
    phrases.set(first, known.set(before, rests));
    lengths.add(first.length);
    const [letter = ""] = first;
    for (const one of [letter, letter.toUpperCase()]) beginnings.add(one.charCodeAt(0));
  }
  for (const rests of [...phrases.values()].flatMap((known) => [...known.values()])) rests.sort();
  const blanks = words.map((word) => word.trim().split(/\s+/).length);
  const maxChars = words.reduce((most, word, index) => {
    const chars = ASCII.test(word) ? word.length : fold(word).length * MAX_FOLDED_CHARS;
    return Math.max(most, chars + (blanks[index] ?? 0) * MAX_BLANK_CHARS);
  }, 1);
  // A phrase may have signs between its words, and before the first.
  const parts = words.map((word) => word.split(WORD).length - 1);
  const befores = [...phrases.values()].flatMap((known) =>
    [...known.keys()].map(({ length }) => length)
  );
  return {
    label,
    maxChars,
    find(text, from, to, found) {
      // A word that began before was looked up there.
      let at = from;
      if (isWordPart(text, at - 1)) { while (at < to && isWordPart(text, at)) at++; }
      while (at < to) {
        if (!isWordPart(text, at)) {
          at++;
          continue;
        }
        const start = at;
        const limit = start + maxChars;
        while (at <= limit && isWordPart(text, at)) at++;
        lookUp(text, start, at, found);
        // What looks like an escape of JSON may also be a path, such as `C:\\notes`.
        const behind = skipEscape(text, start);
        if (behind > start && behind < at) lookUp(text, behind, at, found);
        while (at < to && isWordPart(text, at)) at++;
      }
    },
    heldFrom(text) {
      const least = Math.max(0, text.length - maxChars);
      let start = text.length;
      // As many words as the longest phrase has, and what is between them.
      for (let count = Math.max(1, ...parts); count > 0; count--) {
        while (start > least && !isWordPart(text, start - 1)) start--;
        while (start > least && isWordPart(text, start - 1)) start--;
      }
      return Math.max(least, start - Math.max(0, ...befores));
    },
  };

  function lookUp(
    text: string,
    start: number,
    end: number,
    found: (start: number, end: number) => void,
  ): void {
    const code = text.charCodeAt(start);
    if (code < NON_ASCII_CODE && !beginnings.has(code)) return;
    if (isAscii && !lengths.has(end - start)) return;
    let longest = -1;
    let first = start;
    for (const [before, rests] of phrases.get(fold(text.slice(start, end))) ?? []) {
      const begins = start - before.length;
      if (fold(text.slice(Math.max(0, begins), start)) !== before) continue;
      const ends = endOfRest(text, end, rests);
      if (ends > longest) [longest, first] = [ends, begins];
    }
    if (longest >= 0) found(first, longest);
  }
}

function parsePhrase(written: string): Phrase | null {
  const word = written.trim().replace(/\s+/g, " ");
  const match = WORD.exec(word);
  if (match === null) return null;
  const { index, 0: first } = match;
  const [before, rest] = [word.slice(0, index), word.slice(index + first.length)];
  return { before: fold(before), first: fold(first), rest: fold(rest) };
}

/**
 * Returns where the longest of the rests ends that is in a text at `start`; -1 if none is. The
 * rests are in order, and each character of the text leaves fewer of them: many phrases may have
 * the same first word, and a text may repeat it.
 */
function endOfRest(text: string, start: number, rests: readonly string[]): number {
  let [low, high] = [0, rests.length];
  let longest = -1;
  for (let at = start, known = 0; low < high;) {
    const isWhole = rests[low]?.length === known;
    if (isWhole && !(isWordPart(text, at - 1) && isWordPart(text, at))) longest = at;
    const code = text.codePointAt(at);
    if (code === undefined) break;
    const character = String.fromCodePoint(code);
    const isBlank = /\s/.test(character);
    const limit = at + (isBlank ? MAX_BLANK_CHARS : character.length);
    at += character.length;
    while (at < limit && /\s/.test(text.charAt(at))) at++;
    // The dot of a Turkish İ is that of an i, as `fold` says, also where it is the next character.
    const isDot = character === "\u0307" && fold(text.charAt(at - 2)) === "i";
    for (const letter of (isBlank ? " " : isDot ? "" : fold(character)).split("")) {
      const next = letter.charCodeAt(0);
      low = firstFrom(rests, low, high, known, next);
      high = firstFrom(rests, low, high, known, next + 1);
      known++;
    }
  }
  return longest;
}

/**
 * Returns the first of the texts from `low` to `high`, which are in order, whose character at a
 * place is this one or a later one; `high` if there is none.
 */
function firstFrom(
  texts: readonly string[],
  low: number,
  high: number,
  place: number,
  code: number,
): number {
  while (low < high) {
    const middle = (low + high) >> 1;
    // A text that has ended has no character there and comes first.
    if ((texts[middle]?.charCodeAt(place) ?? NaN) >= code) high = middle;
    else low = middle + 1;
  }
  return low;
}
