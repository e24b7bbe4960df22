import { SEALED_PREFIX, sealedText } from "../stream/sealed_text.ts";

const QUOTE = 34, COMMA = 44, COLON = 58, BACKSLASH = 92;
const MINUS_CODE = 45, POINT_CODE = 46, ZERO_CODE = 48, LARGE_E_CODE = 69, SMALL_E_CODE = 101;
const SMALL_S_CODE = 115, SMALL_U_CODE = 117;
const OPEN_ARRAY = 91, CLOSE_ARRAY = 93, OPEN_OBJECT = 123, CLOSE_OBJECT = 125;

/** Returns the first index from `at` on without JSON white space. */
export function skipBlanks(text: string, at: number): number {
  while (isBlank(text.charCodeAt(at))) at++;
  return at;
}

/** True if a character code is JSON white space. */
export function isBlank(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

/** True for the code of a digit from 0 to 9. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/**
 * Characters behind an escaped quote that are looked at one by one: where many follow each other, a
 * search for each takes eight times as long.
 */
const NEAR_CHARS = 4;

/** Returns the index after the string whose opening quote is at `start`. */
export function endOfString(text: string, start: number): number {
  let from = start + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return text.length;
    if (isEnd(text, from, quote)) return quote + 1;
    from = quote + 1;
    for (let near = from + NEAR_CHARS; from < near && from < text.length;) {
      const code = text.charCodeAt(from);
      if (code === QUOTE) return from + 1;
      if (code !== BACKSLASH) from++;
      else {
        from += 2;
        if (text.charCodeAt(from - 1) === QUOTE) near = from + NEAR_CHARS;
      }
    }
  }
}

/** Escaped quotes of a string after which the search for its end may be interrupted. */
const QUOTES_PER_STEP_COUNT = 64 * 1024;

/** The same, which can be interrupted. */
export function* endOfStringSteps(text: string, start: number): Generator<void, number, void> {
  let from = start + 1;
  for (let count = 1;; count++) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return text.length;
    if (isEnd(text, from, quote)) return quote + 1;
    from = quote + 1;
    if (count % QUOTES_PER_STEP_COUNT === 0) yield;
  }
}

/** True if a quote ends its string, of which nothing before `from` escapes it. */
function isEnd(text: string, from: number, quote: number): boolean {
  let before = quote - 1;
  while (before >= from && text.charCodeAt(before) === BACKSLASH) before--;
  // An even number of backslashes escapes only itself.
  return (quote - before) % 2 === 1;
}

/**
 * Returns the index after the JSON value that begins at `start`. The text must be valid for
 * `JSON.parse`.
 */
export function endOfValue(text: string, start: number): number {
  switch (text.charCodeAt(start)) {
    case QUOTE:
      return endOfString(text, start);
    case OPEN_OBJECT:
    case OPEN_ARRAY:
      return endOfContainer(text, start);
    default:
      return endOfWord(text, start);
  }
}

/**
 * Number of items as which a member counts whose key has an escape: its object may be read three
 * times.
 */
const ESCAPED_KEY_ITEM_COUNT = 40;

/**
 * Number of parts as which a member counts whose key is an index of an array, or has an escape: the
 * engine keeps up to 35 places for one index, and an object may be read three times.
 */
const INDEX_KEY_PART_COUNT = 5;

/** The same of a number that may be kept as it is written. */
const NUMBER_PART_COUNT = 0.375;

/** True if a text is so long that it may hold more than `limit` members and elements. */
export function mayHaveMoreItems(text: string, limit: number): boolean {
  // A member with an escaped key takes at least seven characters, any other item two.
  return text.length * ESCAPED_KEY_ITEM_COUNT > 7 * limit;
}

/**
 * True if a JSON text holds more than `limit` members and elements, counted on all levels. Without
 * meaning for a text that is not JSON.
 */
export function hasMoreItems(text: string, limit: number): boolean {
  return mayHaveMoreItems(text, limit) && countItems(text, limit).count > limit;
}

/** Counts of a JSON text, on all levels. */
export interface ItemCounts {
  /** Members and elements; a member whose key has an escape counts as `ESCAPED_KEY_ITEM_COUNT`. */
  readonly count: number;
  /**
   * Members, objects and lists, also those of JSON in a string or in a sealed text; a member whose
   * key is an index or has an escape counts as `INDEX_KEY_PART_COUNT`. A number that may be kept
   * as it is written is `NUMBER_PART_COUNT` more.
   */
  readonly partCount: number;
}

/**
 * Counts the members and elements of a JSON text. Stops at the first one above `limit`, so the cost
 * is bounded by the limit. `isInner` for the text of a string: JSON in the strings of that one has
 * no parts, because the gateway parses no further.
 */
export function countItems(text: string, limit: number, isInner = false): ItemCounts {
  let count = 0;
  let partCount = 0;
  // The first item of a container has no comma before it.
  let isFirst = false;
  // A regular expression: with `indexOf` or `includes` here, optimized code took 600 ms and more
  // for a text of 10,000 items that takes 2 ms so.
  const hasEscape = /\\/.test(text);
  for (let at = 0; at < text.length && count <= limit;) {
    const code = text.charCodeAt(at);
    if (code === COMMA) count++;
    else if (isFirst && !isBlank(code)) {
      isFirst = false;
      if (code !== CLOSE_ARRAY && code !== CLOSE_OBJECT) count++;
    }
    if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      isFirst = true;
      partCount++;
    } else if (code === COLON) partCount++;
    else if (isNumberMark(text, at, code)) partCount += NUMBER_PART_COUNT;
    if (code !== QUOTE) {
      at++;
      continue;
    }
    const start = at;
    at = endOfString(text, start);
    const first = text.charCodeAt(start + 1);
    if (hasEscape && isKeyWithEscape(text, start, at)) {
      count += ESCAPED_KEY_ITEM_COUNT - 1;
      partCount += INDEX_KEY_PART_COUNT - 1;
    } else if (isDigit(first) && isKey(text, at)) partCount += INDEX_KEY_PART_COUNT - 1;
    if (
      !isInner && (mayBeginSealed(text, start + 1, first) ||
        (mayBeginJson(first) && mayEndJson(text, at - 2)))
    ) {
      partCount += countInside(text, start, at);
    }
  }
  return { count, partCount };
}

/**
 * True for the mark of a number that may be kept as it is written: a point, an exponent or the sign
 * of a zero.
 */
function isNumberMark(text: string, at: number, code: number): boolean {
  if (code === POINT_CODE) return true;
  if (code === MINUS_CODE) return text.charCodeAt(at + 1) === ZERO_CODE;
  return (code === SMALL_E_CODE || code === LARGE_E_CODE) && isDigit(text.charCodeAt(at - 1));
}

/** True if a string that begins with this character may be JSON, also behind blanks. */
function mayBeginJson(first: number): boolean {
  return first === OPEN_OBJECT || first === OPEN_ARRAY || first === BACKSLASH || isBlank(first);
}

/**
 * True if a string of a JSON text, whose last character is at `at`, may be JSON by its end: a
 * bracket, also behind blanks and as an escape. Lines of a log that begin with one mostly end
 * otherwise.
 */
function mayEndJson(text: string, at: number): boolean {
  while (isBlank(text.charCodeAt(at)) || isEscapedBlank(text, at)) {
    at -= isBlank(text.charCodeAt(at)) ? 1 : 2;
  }
  const code = text.charCodeAt(at);
  return code === CLOSE_OBJECT || code === CLOSE_ARRAY || text.startsWith("\\u00", at - 5);
}

/** True if an escape of white space ends at an index. */
function isEscapedBlank(text: string, at: number): boolean {
  return text.charCodeAt(at - 1) === BACKSLASH && "nrt".includes(text.charAt(at));
}

/** True if a string of a JSON text, whose first character is at `at`, begins as a sealed text. */
function mayBeginSealed(text: string, at: number, first: number): boolean {
  if (first !== SMALL_S_CODE && first !== BACKSLASH) return false;
  for (let index = 0; index < SEALED_PREFIX.length; index++) {
    const isEscape = text.charCodeAt(at) === BACKSLASH && text.charCodeAt(at + 1) === SMALL_U_CODE;
    const code = isEscape ? parseInt(text.slice(at + 2, at + 6), 16) : text.charCodeAt(at);
    if (code !== SEALED_PREFIX.charCodeAt(index)) return false;
    at += isEscape ? 6 : 1;
  }
  return true;
}

/**
 * Returns the parts of the JSON inside a string, which is written in many ways: with blanks, with
 * each mark as an escape, or sealed. 0 if the string is not valid, as the whole text is not then.
 */
function countInside(text: string, start: number, end: number): number {
  try {
    const inner = String(JSON.parse(text.slice(start, end)));
    if (inner.startsWith(SEALED_PREFIX)) return countSealed(inner);
    return countItems(inner, Infinity, true).partCount;
  } catch {
    return 0;
  }
}

/**
 * Characters of a sealed text up to which it is not opened: its parts are the most that it may
 * hold. Opening 200,000 of them takes 0.2 s.
 */
const MAX_CLOSED_CHARS = 128;

/** Fewest characters of base64 for a part: `"1":0,` takes 8 and counts as 5. */
const SEALED_PART_CHARS = 1.6;

/** Returns the parts of the JSON in a text of `sealText`; 0 for any other long text. */
export function countSealed(sealed: string): number {
  if (sealed.length <= MAX_CLOSED_CHARS) return Math.ceil(sealed.length / SEALED_PART_CHARS);
  const inner = sealedText(sealed);
  return inner === null ? 0 : countItems(inner, Infinity, true).partCount;
}

/** True if the string between two indices is the key of a member and has an escape. */
function isKeyWithEscape(text: string, start: number, end: number): boolean {
  return isKey(text, end) && text.slice(start, end).includes("\\");
}

/** True if a string that ends at this index is the key of a member. */
function isKey(text: string, end: number): boolean {
  return text.charCodeAt(skipBlanks(text, end)) === COLON;
}

function endOfContainer(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    at++;
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++;
    else if ((code === CLOSE_OBJECT || code === CLOSE_ARRAY) && --depth === 0) return at;
  }
  return at;
}

/** Returns the index after a number, `true`, `false` or `null`. */
function endOfWord(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_OBJECT || code === CLOSE_ARRAY || isBlank(code)) break;
    at++;
  }
  return at;
}
