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

/** Returns the finder of card numbers of 13 to 19 digits, with single blanks or hyphens. */
export function newCardFinder(label: string): Finder {
  return {
    label,
    maxChars: MAX_CARD_CHARS,
    find(text, from, to, found) {
      for (let at = from; at < to; at++) {
        if (!isDigit(text.charCodeAt(at))) continue;
        if (isNumberStart(text, at)) {
          const end = endOfCard(text, at);
          if (end > 0) found(at, end);
        }
        while (isDigit(text.charCodeAt(at + 1))) at++;
      }
    },
    heldFrom: (text) => heldNumber(text, MAX_CARD_CHARS),
  };
}

/** Returns where the longest card number that begins at `start` ends; -1 if none does. */
function endOfCard(text: string, start: number): number {
  let end = -1, count = 0, prefix = 0;
  // The check digit decides which digits count twice, and its place is known at the end.
  let sumIfEven = 0, sumIfOdd = 0;
  let isOneDigit = true;
  for (let at = start; count < MAX_CARD_DIGIT_COUNT; at++) {
    const digit = text.charCodeAt(at) - 48;
    const twice = digit > 4 ? 2 * digit - 9 : 2 * digit;
    sumIfEven += count % 2 === 0 ? twice : digit;
    sumIfOdd += count % 2 === 0 ? digit : twice;
    if (count < 4) prefix = 10 * prefix + digit;
    if (text.charCodeAt(at) !== text.charCodeAt(start)) isOneDigit = false;
    count++;
    const next = text.charCodeAt(at + 1);
    if (isDigit(next)) continue;
    const sum = count % 2 === 0 ? sumIfEven : sumIfOdd;
    const isCard = sum % 10 === 0 && !isOneDigit && isCardLength(prefix, count);
    if (isCard && isNumberEnd(text, at + 1)) end = at + 1;
    if (next !== BLANK && next !== HYPHEN || !isDigit(text.charCodeAt(at + 2))) break;
    at++;
  }
  return end;
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
