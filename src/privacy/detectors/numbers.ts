import type { Finder } from "../types.ts";
import {
  isBehindEscape,
  isBlank,
  isDigit,
  isWordEnd,
  isWordStart,
  startOfRun,
} from "./characters.ts";
import { eachMatch } from "./each_match.ts";

const PLUS_CODE = 43,
  HYPHEN_CODE = 45,
  FIRM_HYPHEN_CODE = 0x2011,
  POINT_CODE = 46,
  OPEN_CODE = 40,
  CLOSE_CODE = 41;

/** Least digits of a card number, and its length with a blank between any two. */
const MIN_CARD_DIGIT_COUNT = 13, MAX_CARD_CHARS = 37;

const SSN_CHARS = 11, MAX_PHONE_CHARS = 44;

/** Social security numbers of the USA; no area of 900 and above was ever issued, but they count. */
const SSN = /(\d{3})([-. \u00a0\u202f\u2011])(\d{2})\2(\d{4})/g;

/**
 * Telephone numbers, of which the first form that fits counts, so that none takes the beginning of
 * another number behind it: those of North America with a plus, a plus and 8 to 15 digits without
 * and with separators, and groups of 3, 3 and 4 digits as in North America.
 */
const PHONE = new RegExp(
  [
    /\+1(?:[-. ()]{0,2}\d){10}(?!\d)/,
    /\+\d{8,15}(?!\d)/,
    /\+\d(?:[-. ()]{0,2}\d){7,14}(?!\d)/,
    /(?:1[-. ]?)?(?:\(\d{3}\)[-. ]?|\d{3}[-. ])\d{3}[-. ]\d{4}/,
  ].map(({ source }) => source).join("|").replaceAll("[-. ", "[-. \u00a0\u202f\u2011"),
  "g",
);

/** Digits and separators: card numbers are in no other text. */
const DIGITS = /\d[\d \u00a0\u202f\u2011-]{11,}/g;

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

/** Facts of the digits of one run, by their number in it; reused, because runs may be many. */
const RUN = {
  /** Place of each digit in the text. */
  places: new Int32Array(0),
  digits: new Uint8Array(0),
  /** First of the digits that are joined with this one by single separators or none. */
  chains: new Int32Array(0),
  /** Sums before each digit if those at even places count twice, and if those at odd places do. */
  even: new Int32Array(0),
  odd: new Int32Array(0),
};

/** Reads the digits of a run of digits and separators. Returns their number. */
function readRun(text: string, start: number, end: number): number {
  if (RUN.places.length <= end - start) {
    const size = 2 * (end - start) + 1;
    for (const name of ["places", "chains", "even", "odd"] as const) {
      RUN[name] = new Int32Array(size);
    }
    RUN.digits = new Uint8Array(size);
  }
  const { places, digits, chains, even, odd } = RUN;
  let count = 0;
  let chain = 0;
  let last = start;
  even[0] = odd[0] = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) continue;
    if (at - last > 2) chain = count;
    const twice = digit > 4 ? 2 * digit - 9 : 2 * digit;
    places[count] = last = at;
    digits[count] = digit;
    chains[count] = chain;
    even[count + 1] = (even[count] ?? 0) + (count % 2 === 0 ? twice : digit);
    odd[count + 1] = (odd[count] ?? 0) + (count % 2 === 0 ? digit : twice);
    count++;
  }
  return count;
}

/**
 * Finds the card numbers in a run of digits and separators that begin before `to`. Each begins and
 * ends with a group of digits.
 */
function findCards(
  text: string,
  start: number,
  end: number,
  to: number,
  found: (start: number, end: number) => void,
): void {
  const count = readRun(text, start, end);
  const { places, digits } = RUN;
  const placeOf = (index: number) => places[index] ?? 0;
  for (let first = 0; first + MIN_CARD_DIGIT_COUNT <= count && placeOf(first) < to; first++) {
    const isInside = first > 0 && placeOf(first) - placeOf(first - 1) === 1;
    if (isInside && !isBehindEscape(text, placeOf(first))) continue;
    const prefix = ((digits[first] ?? 0) * 10 + (digits[first + 1] ?? 0)) * 100 +
      (digits[first + 2] ?? 0) * 10 + (digits[first + 3] ?? 0);
    if (!mayBeCard(prefix) || !isNumberStart(text, placeOf(first))) continue;
    const last = lastOfCard(text, first, prefix, count);
    if (last < 0) continue;
    found(placeOf(first), placeOf(last) + 1);
    first = last;
  }
}

/** Returns the last digit of the longest card that begins with this one; -1 without a card. */
function lastOfCard(text: string, first: number, prefix: number, count: number): number {
  const { places, digits, chains, even, odd } = RUN;
  let longest = -1;
  for (const length of cardLengths(prefix)) {
    const last = first + length - 1;
    if (last >= count || chains[last] !== chains[first]) break;
    // The check digit counts once.
    const sums = last % 2 === 0 ? odd : even;
    if (((sums[last + 1] ?? 0) - (sums[first] ?? 0)) % 10 !== 0) continue;
    const end = (places[last] ?? 0) + 1;
    if (last + 1 < count && places[last + 1] === end) continue;
    const isOneDigit = digits.subarray(first, last + 1).every((one) => one === digits[first]);
    if (!isOneDigit && isNumberEnd(text, end)) longest = last;
  }
  return longest;
}

/** True if cards begin with these four digits. */
function mayBeCard(prefix: number): boolean {
  return prefix >= 2221 && prefix <= 2720 || prefix >= 3000 && prefix < 7000;
}

/** Returns how many digits the cards have whose number begins with these four digits. */
function cardLengths(prefix: number): readonly number[] {
  const two = Math.floor(prefix / 100);
  const three = Math.floor(prefix / 10);
  if (two >= 40 && two <= 49) return [13, 16, 19];
  if (two >= 51 && two <= 55 || prefix >= 2221 && prefix <= 2720) return [16];
  if (two === 34 || two === 37) return [15];
  if (prefix >= 3528 && prefix <= 3589) return [16, 17, 18, 19];
  if (two === 36 || two === 38 || two === 39 || three >= 300 && three <= 305 || three === 309) {
    return [14, 15, 16, 17, 18, 19];
  }
  return two === 50 || two >= 56 && two <= 69 ? [13, 14, 15, 16, 17, 18, 19] : [];
}

/** True if a number begins at `start`, and not the fraction of one. */
function isNumberStart(text: string, start: number): boolean {
  return isWordStart(text, start) &&
    !(text.charCodeAt(start - 1) === POINT_CODE && isDigit(text.charCodeAt(start - 2)));
}

function isNumberEnd(text: string, end: number): boolean {
  return isWordEnd(text, end) &&
    !(text.charCodeAt(end) === POINT_CODE && isDigit(text.charCodeAt(end + 1)));
}

/** Returns the finder of social security numbers of the USA, in groups of 3, 2 and 4 digits. */
export function newSsnFinder(label: string): Finder {
  return newFormFinder(
    label,
    SSN,
    SSN_CHARS,
    ({ 1: area, 3: group, 4: serial }) =>
      area !== "000" && area !== "666" && group !== "00" && serial !== "0000",
  );
}

/** Returns the finder of telephone numbers. */
export function newPhoneFinder(label: string): Finder {
  return newFormFinder(label, PHONE, MAX_PHONE_CHARS);
}

/** Returns the finder of numbers that have the form of an expression, and are no part of a word. */
function newFormFinder(
  label: string,
  form: RegExp,
  maxChars: number,
  isNumber: (match: RegExpExecArray) => boolean = () => true,
): Finder {
  return {
    label,
    maxChars,
    find(text, from, to, found) {
      eachMatch(form, text, from, to, (match) => {
        const start = match.index;
        const end = start + match[0].length;
        if (!isNumber(match) || !isWordStart(text, start) || !isWordEnd(text, end)) return false;
        found(start, end);
        return true;
      });
    },
    heldFrom: (text) => heldNumber(text, maxChars),
  };
}

function isNumberPart(code: number): boolean {
  return isDigit(code) || isBlank(code) || code === PLUS_CODE || code === HYPHEN_CODE ||
    code === FIRM_HYPHEN_CODE || code === POINT_CODE || code === OPEN_CODE || code === CLOSE_CODE;
}

/** Returns where digits with their separators at the end of a text begin. */
function heldNumber(text: string, maxChars: number): number {
  let start = startOfRun(text, maxChars, isNumberPart);
  const isFirst = (code: number) => isDigit(code) || code === PLUS_CODE || code === OPEN_CODE;
  while (start < text.length && !isFirst(text.charCodeAt(start))) start++;
  return start;
}
