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
