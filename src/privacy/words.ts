import { WORD_CHARACTER } from "../config/privacy_schema.ts";
import type { Finder } from "./types.ts";

/** A phrase by its first word: what is before and behind that word, in lower case. */
interface Phrase {
  readonly before: string;
  readonly first: string;
  /** Text after the first word; any white space is one blank. */
  readonly rest: string;
}

const WORD = new RegExp(`${WORD_CHARACTER.source}+`, "u");

/** Longest white space between two words of a phrase, in characters. */
const MAX_BLANK_CHARS = 8;

const NON_ASCII_CODE = 128;

const UNKNOWN_CODE = 0, PART_CODE = 1, OTHER_CODE = 2;

/** Whether each UTF-16 code unit is a part of words, as far as it was looked at. */
const KINDS = new Uint8Array(65_536);

function isWordPart(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  // Also for the place before a text and behind it.
  if (Number.isNaN(code)) return false;
  if (KINDS[code] === UNKNOWN_CODE) {
    KINDS[code] = WORD_CHARACTER.test(String.fromCharCode(code)) ? PART_CODE : OTHER_CODE;
  }
  return KINDS[code] === PART_CODE;
}

/**
 * Returns the finder of whole words and phrases, whatever their letter case. It looks up each word
 * of a text, so its time does not grow with the number of words that it looks for.
 */
export function newWordFinder(label: string, words: readonly string[]): Finder {
  const phrases = new Map<string, Phrase[]>();
  const lengths = new Set<number>();
  /** ASCII characters with which a first word may begin; of all others any may. */
  const beginnings = new Set<number>();
  for (const word of words) {
    const phrase = parsePhrase(word);
    if (phrase === null) continue;
    const known = phrases.get(phrase.first);
    if (known === undefined) phrases.set(phrase.first, [phrase]);
    else known.push(phrase);
    lengths.add(phrase.first.length);
    const [letter = ""] = phrase.first;
    for (const one of [letter, letter.toUpperCase()]) beginnings.add(one.charCodeAt(0));
  }
  const blanks = words.map((word) => word.trim().split(/\s+/).length);
  const maxChars = words.reduce(
    (most, { length }, index) => Math.max(most, length + (blanks[index] ?? 0) * MAX_BLANK_CHARS),
    1,
  );
  // A phrase may have signs between its words, and before the first.
  const parts = words.map((word) => word.split(WORD).length - 1);
  const befores = [...phrases.values()].flat().map(({ before }) => before.length);
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
    if (!lengths.has(end - start) || code < NON_ASCII_CODE && !beginnings.has(code)) return;
    let longest = -1;
    let first = start;
    for (const phrase of phrases.get(text.slice(start, end).toLowerCase()) ?? []) {
      const begins = start - phrase.before.length;
      if (text.slice(Math.max(0, begins), start).toLowerCase() !== phrase.before) continue;
      const ends = endOfRest(text, end, phrase.rest);
      if (ends > longest) [longest, first] = [ends, begins];
    }
    if (longest >= 0) found(first, longest);
  }
}

function parsePhrase(written: string): Phrase | null {
  const word = written.trim().toLowerCase().replace(/\s+/g, " ");
  const match = WORD.exec(word);
  if (match === null) return null;
  const { index, 0: first } = match;
  return { before: word.slice(0, index), first, rest: word.slice(index + first.length) };
}

/** Returns where the rest of a phrase at `start` ends; -1 if another text is there. */
function endOfRest(text: string, start: number, rest: string): number {
  let at = start;
  for (const character of rest) {
    if (character === " ") {
      const limit = at + MAX_BLANK_CHARS;
      const begin = at;
      while (at < limit && /\s/.test(text.charAt(at))) at++;
      if (at === begin) return -1;
    } else {
      const next = text.slice(at, at + character.length);
      if (next.toLowerCase() !== character) return -1;
      at += character.length;
    }
  }
  return isWordPart(text, at - 1) && isWordPart(text, at) ? -1 : at;
}
