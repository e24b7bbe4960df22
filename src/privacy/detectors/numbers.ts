import type { Finder } from "../types.ts";
import { isDigit, isWordEnd, isWordStart, startOfRun } from "./characters.ts";

const BLANK = 32, PLUS = 43, HYPHEN = 45, POINT = 46, OPEN = 40, CLOSE = 41;

/** Digits of a card number, and its length with a blank between any two. */
const MIN_CARD_DIGIT_COUNT = 13, MAX_CARD_DIGIT_COUNT = 19, MAX_CARD_CHARS = 37;

const SSN_CHARS = 11, MAX_PHONE_CHARS = 44;

/** Social security numbers of the USA; no area of 900 and above was ever issued, but they count. */
const SSN = /(\d{3})([-. ])(\d{2})\2(\d{4})/g;

/** A plus and 8 to 15 digits, or groups of 3, 3 and 4 digits as in North America. */
const PHONE =
  /\+\d(?:[-. ()]{0,2}\d){7,14}|(?:1[-. ]?)?(?:\(\d{3}\)[-. ]?|\d{3}[-. ])\d{3}[-. ]\d{4}/g;

/** Digits with single or more separators: card numbers are in no other text. */
const DIGITS = /\d[\d -]{11,}/g;

/** Returns the finder of card numbers of 13 to 19 digits, with single blanks or hyphens. */
export function newCardFinder(label: string): Finder {
  return {
    label,
    maxChars: MAX_CARD_CHARS,
    find(text, from, to, found) {
      eachMatch(DIGITS, text, from, to, ({ index, 0: { length } }) => {
        findCards(text, index, Math.min(index + length, to + MAX_CARD_CHARS), to, found);
        return true;
      });
    },
    heldFrom: (text) => heldNumber(text, MAX_CARD_CHARS),
  };
}

/** Finds the card numbers in a run of digits and separators that begin before `to`. */
function findCards(
  text: string,
  start: number,
  end: number,
  to: number,
  found: (start: number, end: number) => void,
): void {
  const size = end - start + 1;
  const places = new Int32Array(size), digits = new Uint8Array(size);
  // Sums up to each digit if those at even places count twice, and if those at odd places do.
  const even = new Int32Array(size), odd = new Int32Array(size);
  let count = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0) continue;
    const twice = digit > 4 ? 2 * digit - 9 : 2 * digit;
    places[count] = at;
    digits[count] = digit;
    even[count + 1] = (even[count] ?? 0) + (count % 2 === 0 ? twice : digit);
    odd[count + 1] = (odd[count] ?? 0) + (count % 2 === 0 ? digit : twice);
    count++;
  }
  const placeOf = (index: number) => places[index] ?? 0;
  let first = 0;
  while (first + MIN_CARD_DIGIT_COUNT <= count && placeOf(first) < to) {
    // Of digits and what separates them at most one character is no digit.
    let last = first, gap = first;
    let longest = -1;
    const prefix = ((digits[first] ?? 0) * 10 + (digits[first + 1] ?? 0)) * 100 +
      (digits[first + 2] ?? 0) * 10 + (digits[first + 3] ?? 0);
    const isBegun = (first === 0 || placeOf(first) - placeOf(first - 1) > 1) &&
      isNumberStart(text, placeOf(first));
    if (isBegun && mayBeCard(prefix)) {
      const limit = Math.min(count, first + MAX_CARD_DIGIT_COUNT);
      for (; last < limit; last++) {
        if (last > first && placeOf(last) - placeOf(last - 1) > 2) break;
        const length = last - first + 1;
        if (length < MIN_CARD_DIGIT_COUNT || isDigit(text.charCodeAt(placeOf(last) + 1))) continue;
        const sums = last % 2 === 0 ? odd : even;
        const sum = (sums[last + 1] ?? 0) - (sums[first] ?? 0);
        if (sum % 10 !== 0 || !isCardLength(prefix, length)) continue;
        const isOneDigit = digits.subarray(first, last + 1).every((one) => one === digits[first]);
        if (!isOneDigit && isNumberEnd(text, placeOf(last) + 1)) longest = last;
      }
    }
    if (longest >= 0) {
      found(placeOf(first), placeOf(longest) + 1);
      gap = longest;
    }
    first = gap + 1;
  }
}

/** True if cards begin with these four digits. */
function mayBeCard(prefix: number): boolean {
  return prefix >= 2221 && prefix <= 2720 || prefix >= 3000 && prefix < 7000;
}

/** True if cards whose number begins with these four digits have this many digits. */
function isCardLength(prefix: number, count: number): boolean {
  if (count < MIN_CARD_DIGIT_COUNT) return false;
  const two = Math.floor(prefix / 100);
  const three = Math.floor(prefix / 10);
  if (two >= 40 && two <= 49) return count === 13 || count === 16 || count === 19;
  if (two >= 51 && two <= 55 || prefix >= 2221 && prefix <= 2720) return count === 16;
  if (two === 34 || two === 37) return count === 15;
  if (prefix >= 3528 && prefix <= 3589) return count >= 16;
  if (two === 36 || two === 38 || two === 39 || three >= 300 && three <= 305 || three === 309) {
    return count >= 14;
  }
  return two === 50 || two >= 56 && two <= 69;
}

/** True if a number begins at `start`, and not the fraction of one. */
function isNumberStart(text: string, start: number): boolean {
  return isWordStart(text, start) &&
    !(text.charCodeAt(start - 1) === POINT && isDigit(text.charCodeAt(start - 2)));
}

function isNumberEnd(text: string, end: number): boolean {
  return isWordEnd(text, end) &&
    !(text.charCodeAt(end) === POINT && isDigit(text.charCodeAt(end + 1)));
}

/** Returns the finder of social security numbers of the USA, in groups of 3, 2 and 4 digits. */
export function newSsnFinder(label: string): Finder {
  return {
    label,
    maxChars: SSN_CHARS,
    find(text, from, to, found) {
      eachMatch(SSN, text, from, to, ({ index, 0: { length }, 1: area, 3: group, 4: serial }) => {
        if (area === "000" || area === "666" || group === "00" || serial === "0000") return false;
        if (!isWordStart(text, index) || !isWordEnd(text, index + length)) return false;
        found(index, index + length);
        return true;
      });
    },
    heldFrom: (text) => heldNumber(text, SSN_CHARS),
  };
}

/** Returns the finder of telephone numbers. */
export function newPhoneFinder(label: string): Finder {
  return {
    label,
    maxChars: MAX_PHONE_CHARS,
    find(text, from, to, found) {
      eachMatch(PHONE, text, from, to, ({ index, 0: { length } }) => {
        if (!isWordStart(text, index) || !isWordEnd(text, index + length)) return false;
        found(index, index + length);
        return true;
      });
    },
    heldFrom: (text) => heldNumber(text, MAX_PHONE_CHARS),
  };
}

/**
 * Calls `take` for each match that begins between `from` and `to`. One that is not taken is
 * searched again from its second character on.
 */
export function eachMatch(
  pattern: RegExp,
  text: string,
  from: number,
  to: number,
  take: (match: RegExpExecArray) => boolean,
): void {
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match !== null && match.index < to;) {
    if (!take(match)) pattern.lastIndex = match.index + 1;
    match = pattern.exec(text);
  }
}

function isNumberPart(code: number): boolean {
  return isDigit(code) || code === BLANK || code === PLUS || code === HYPHEN || code === POINT ||
    code === OPEN || code === CLOSE;
}

/** Returns where digits with their separators at the end of a text begin. */
function heldNumber(text: string, maxChars: number): number {
  let start = startOfRun(text, maxChars, isNumberPart);
  const isFirst = (code: number) => isDigit(code) || code === PLUS || code === OPEN;
  while (start < text.length && !isFirst(text.charCodeAt(start))) start++;
  return start;
}
