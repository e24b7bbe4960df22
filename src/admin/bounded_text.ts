/** Maximum length of a text of a snapshot that clients can choose, such as a model or a path. */
const MAX_TEXT_CHARS = 300;

/** Returns a text that clients or providers may have chosen, cut to a bound, without lone surrogates. */
export function boundedText(text: string): string {
  if (text.length <= MAX_TEXT_CHARS) return text.toWellFormed();
  // A slice would hold the whole text in memory.
  return [...text.slice(0, MAX_TEXT_CHARS), "…"].join("").toWellFormed();
}

/** Maximum number of field paths and attempts of a call in a snapshot. */
export const MAX_LISTED = 50;
