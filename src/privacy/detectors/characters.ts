const ZERO = 48, NINE = 57, UPPER_A_CODE = 65, UPPER_Z_CODE = 90, LOWER_A_CODE = 97;
const LOWER_Z_CODE = 122, BACKSLASH = 92, PERCENT_CODE = 37;

/** Letters of Latin, Greek and Cyrillic script beyond ASCII. */
const FIRST_LETTER_CODE = 0xc0, LAST_LETTER_CODE = 0x52f;

/** True for a digit from 0 to 9. */
export function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** True for a blank within a number, also one at which no line breaks. */
export function isBlank(code: number): boolean {
  return code === 32 || code === 0xa0 || code === 0x202f;
}

/** True for a letter of an alphabet. */
export function isLetter(code: number): boolean {
  return code >= LOWER_A_CODE && code <= LOWER_Z_CODE ||
    code >= UPPER_A_CODE && code <= UPPER_Z_CODE ||
    code >= FIRST_LETTER_CODE && code <= LAST_LETTER_CODE && code !== 0xd7 && code !== 0xf7;
}

/** An escape behind its backslash, and of a URL behind its sign. */
const ESCAPE = /(?<=\\)(?:[bfnrt]|u[0-9A-Fa-f]{4})|(?<=%)[0-9A-Fa-f]{2}/y;

/**
 * Returns where a word that seems to begin at `start` really begins. A text may be JSON inside
 * JSON, in which the letters behind a backslash belong to an escape: `\nbob` is a line end and
 * `bob`, and so is `\\nbob` in the arguments of a tool that are code; or a URL, in which `%20bob`
 * is a blank and `bob`.
 */
export function skipEscape(text: string, start: number): number {
  const before = text.charCodeAt(start - 1);
  if (before !== BACKSLASH && before !== PERCENT_CODE) return start;
  ESCAPE.lastIndex = start;
  return ESCAPE.test(text) ? ESCAPE.lastIndex : start;
}

/** True if an escape such as `\n`, `\u00a0` or `%20` ends at `start`. */
export function isBehindEscape(text: string, start: number): boolean {
  return skipEscape(text, start - 1) === start || skipEscape(text, start - 2) === start ||
    skipEscape(text, start - 5) === start;
}

/** True if neither a letter nor a digit is just before `start`, besides those of an escape. */
export function isWordStart(text: string, start: number): boolean {
  const before = text.charCodeAt(start - 1);
  return !isDigit(before) && !isLetter(before) || isBehindEscape(text, start);
}

/** True if neither a letter nor a digit follows at `end`. */
export function isWordEnd(text: string, end: number): boolean {
  const code = text.charCodeAt(end);
  return !isDigit(code) && !isLetter(code);
}

/**
 * Returns where the run of these characters at the end of a text begins, at most `maxChars` from
 * its end.
 */
export function startOfRun(
  text: string,
  maxChars: number,
  isPart: (code: number) => boolean,
): number {
  const least = Math.max(0, text.length - maxChars);
  let start = text.length;
  while (start > least && isPart(text.charCodeAt(start - 1))) start--;
  return start;
}
