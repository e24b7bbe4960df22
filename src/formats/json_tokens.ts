import { isDigit } from "../core/json/scan.ts";

const QUOTE = 34, BACKSLASH = 92, ZERO = 48;

const PLUS_CODE = 43, MINUS_CODE = 45, POINT_CODE = 46;
const LOWER_A_CODE = 97, LOWER_E_CODE = 101, LOWER_F_CODE = 102, LOWER_U_CODE = 117;

/** Characters after a backslash, without `u`. */
const ESCAPES: ReadonlySet<number> = new Set(new TextEncoder().encode('"\\/bfnrt'));

const WORDS = ["true", "false", "null"].map((word) => new TextEncoder().encode(word));

/** Returns the position after the escape sequence at a backslash; -1 if it is malformed. */
export function endOfEscape(bytes: Uint8Array, start: number): number {
  const code = bytes[start + 1] ?? 0;
  if (code !== LOWER_U_CODE) return ESCAPES.has(code) ? start + 2 : -1;
  for (let at = start + 2; at < start + 6; at++) if (!isHexDigit(bytes[at] ?? 0)) return -1;
  return start + 6;
}

/**
 * Returns the position of the first byte of a string that is its end, an escape or forbidden; at
 * most `limit`.
 */
export function skipPlain(bytes: Uint8Array, start: number, limit: number): number {
  let at = start;
  for (; at < limit; at++) {
    const code = bytes[at] ?? 0;
    if (code === QUOTE || code === BACKSLASH || code < 32) break;
  }
  return at;
}

/** Returns the position after a number, `true`, `false` or `null`; -1 for anything else. */
export function endOfWord(bytes: Uint8Array, start: number): number {
  const code = bytes[start] ?? 0;
  if (code === MINUS_CODE || isDigit(code)) return endOfNumber(bytes, start);
  const word = WORDS.find((one) => one.every((each, index) => bytes[start + index] === each));
  return word === undefined ? -1 : start + word.length;
}

function endOfNumber(bytes: Uint8Array, start: number): number {
  const first = bytes[start] === MINUS_CODE ? start + 1 : start;
  let at = skipDigits(bytes, first);
  if (at === first || (bytes[first] === ZERO && at > first + 1)) return -1;
  if (bytes[at] === POINT_CODE) {
    const fraction = at + 1;
    at = skipDigits(bytes, fraction);
    if (at === fraction) return -1;
  }
  if (((bytes[at] ?? 0) | 0x20) !== LOWER_E_CODE) return at;
  const sign = bytes[at + 1];
  const exponent = sign === PLUS_CODE || sign === MINUS_CODE ? at + 2 : at + 1;
  at = skipDigits(bytes, exponent);
  return at === exponent ? -1 : at;
}

function skipDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isDigit(bytes[at] ?? 0)) at++;
  return at;
}

function isHexDigit(code: number): boolean {
  const small = code | 0x20;
  return isDigit(code) || (small >= LOWER_A_CODE && small <= LOWER_F_CODE);
}
