/** True for a UTF-16 code unit that is the first half of a character of two (high surrogate). */
export function isFirstHalf(code: number): boolean {
  return (code & 0xfc00) === 0xd800;
}

/** True for a UTF-16 code unit that is the second half of a character of two (low surrogate). */
export function isSecondHalf(code: number): boolean {
  return (code & 0xfc00) === 0xdc00;
}
