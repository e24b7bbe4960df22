const ZERO = 48, NINE = 57, UPPER_A_CODE = 65, UPPER_Z_CODE = 90, LOWER_A_CODE = 97;
const LOWER_Z_CODE = 122, LOWER_U_CODE = 117, PERCENT_CODE = 37;

export const BACKSLASH_CODE = 92;

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

/**
 * Beginning of a control sequence of a terminal (ECMA-48, section 5.4), such as that of a colour,
 * also as code writes it.
 */
const CONTROL = String.raw`(?:\x1b|\\(?:u001[bB]|x1[bB]|033|e))\[[0-9;?]{0,16}`;

/** Letters of an escape of JSON, and digits of one of a URL. */
const OF_JSON = "(?:[bfnrt]|u[0-9A-Fa-f]{4})", OF_URL = "[0-9A-Fa-f]{2}";

/** Source of the escapes whose letters and digits are no part of what follows them. */
export const ESCAPES = String.raw`\\${OF_JSON}|%${OF_URL}|${CONTROL}[A-Za-z]`;

const BEHIND_ESCAPE = new RegExp(`(?<=${ESCAPES})`, "y");

/** The rest of an escape behind its sign. */
const REST = new RegExp(
  String.raw`(?<=\\)${OF_JSON}|(?<=%)${OF_URL}|(?<=${CONTROL})[0-9]{0,3}[A-Za-z]`,
  "y",
);

const SIGNS: ReadonlySet<number> = new Set(new TextEncoder().encode("\\%[;"));

/**
 * Returns where a word that seems to begin at `start` really begins. A text may be JSON inside
 * JSON, in which the letters behind a backslash belong to an escape: `\nbob` is a line end and
 * `bob`, and so is `\\nbob` in the arguments of a tool that are code. `%20bob` is a blank and `bob`
 * in a URL, and `31mbob` is `bob` in red behind the beginning of a control sequence.
 */
export function skipEscape(text: string, start: number): number {
  if (!SIGNS.has(text.charCodeAt(start - 1))) return start;
  REST.lastIndex = start;
  return REST.test(text) ? REST.lastIndex : start;
}

/** Returns where the backslashes directly before `end` begin; `end` if there are none. */
export function startOfBackslashes(text: string, end: number): number {
  let start = end;
  while (text.charCodeAt(start - 1) === BACKSLASH_CODE) start--;
  return start;
}

/** True if a backslash before `start` is not escaped itself: in JSON an escape begins with it. */
export function isEscaped(text: string, start: number): boolean {
  return (start - startOfBackslashes(text, start)) % 2 === 1;
}

/** Characters of an escape of JSON such as `\u00a0`, and of one such as `\n`. */
const LONG_ESCAPE_CHARS = "\\u00a0".length, SHORT_ESCAPE_CHARS = "\\n".length;

/**
 * Returns a function that returns where the escape of JSON ends that a place is in; the place if it
 * is in none. Of places in order each run of backslashes is read once: it may be the whole text.
 */
export function newBehindJsonEscape(text: string): (at: number) => number {
  /** The last run, as far as it was read. */
  let [from, to] = [0, 0];

  function isOdd(end: number): boolean {
    let start = end;
    while ((start <= from || start > to) && text.charCodeAt(start - 1) === BACKSLASH_CODE) start--;
    const isKnown = start > from && start <= to;
    [from, to] = isKnown ? [from, Math.max(to, end)] : [start, end];
    return (end - from) % 2 === 1;
  }

  return (at) => {
    const least = Math.max(0, at - LONG_ESCAPE_CHARS + 1);
    const sign = least + text.slice(least, at).lastIndexOf("\\");
    if (sign < least || !isOdd(sign + 1)) return at;
    const isLong = text.charCodeAt(sign + 1) === LOWER_U_CODE;
    return Math.max(at, sign + (isLong ? LONG_ESCAPE_CHARS : SHORT_ESCAPE_CHARS));
  };
}

/** Returns where the escape such as `\u2013` ends that `at` is in; `at` if it is in none. */
export function behindLongEscape(text: string, at: number): number {
  const least = Math.max(0, at - LONG_ESCAPE_CHARS + 1);
  const near = text.slice(least, at + LONG_ESCAPE_CHARS - 1);
  const sign = near.search(/\\u[0-9A-Fa-f]{4}/);
  return sign < 0 ? at : least + sign + LONG_ESCAPE_CHARS;
}

/** True if an escape such as `\n`, `\u00a0` or `%20` ends at `start`. */
export function isBehindEscape(text: string, start: number): boolean {
  // Most digits are behind other ones: an expression for each of a long run takes longer.
  const mayEnd = !isDigit(text.charCodeAt(start - 1)) ||
    text.charCodeAt(start - 3) === PERCENT_CODE || text.charCodeAt(start - 5) === LOWER_U_CODE;
  if (!mayEnd) return false;
  BEHIND_ESCAPE.lastIndex = start;
  return BEHIND_ESCAPE.test(text);
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

/** Source of a quote that closes a text in JSON, HTML or code. */
export const CLOSING_QUOTE = String.raw`"(?=\s{0,64}[,:;)}\]>])`;

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
