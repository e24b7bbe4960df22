/**
 * Characters of a text that is searched, over which no match reaches: between strings that are
 * searched as one text, and between the parts of one string, in each of which `contains` looks at
 * the whole string.
 */
export const STRING_BORDER = "\0", PART_BORDER = "\x01";

/** Either of them. */
const BORDER = new RegExp(`[${STRING_BORDER}${PART_BORDER}]`, "g");

/** Returns where the next border of a text is, at `from` or later; -1 if there is none. */
export function nextBorder(text: string, from: number): number {
  BORDER.lastIndex = from;
  return BORDER.exec(text)?.index ?? -1;
}

/** Character in the place of a border in a string that has its character itself. */
const OWN_BORDER = "\x02";

/** Returns a string of the same length without borders. */
export function withoutBorders(text: string): string {
  if (!hasBorder(text)) return text;
  // `replace` makes a text of as many parts, which takes far longer when it is read.
  return text.split(STRING_BORDER).join(OWN_BORDER).split(PART_BORDER).join(OWN_BORDER);
}

/** Characters of a string with borders that are replaced in one piece. */
const PIECE_CHARS = 32 * 1024;

/** The same for a string of any length, which can be interrupted. */
export function* withoutBordersSteps(text: string): Generator<void, string, void> {
  if (!hasBorder(text)) return text;
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += PIECE_CHARS) {
    pieces.push(withoutBorders(text.slice(at, at + PIECE_CHARS)));
    yield;
  }
  return pieces.join("");
}

/** Many times as fast as the expression, and most texts have none. */
function hasBorder(text: string): boolean {
  return text.includes(STRING_BORDER) || text.includes(PART_BORDER);
}
