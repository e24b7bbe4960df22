/** Position of a stop text in a text that arrives in pieces. */
export interface StopFound {
  /** Number of characters before the stop text, counted from the start of the text. */
  readonly start: number;
  readonly text: string;
}

/** Searches a text that arrives in pieces for the first of several stop texts. */
export interface StopSearch {
  /**
   * Reads the next piece. Returns the stop text that is complete first, the longest of several; or
   * null.
   */
  add(piece: string): StopFound | null;
  /**
   * Returns the number of characters at the end of the text that may be the start of a stop text.
   */
  pending(): number;
}

/** Progress of the search for one stop text. */
interface Matcher {
  readonly text: string;
  /** For each prefix, the length of its longest proper prefix that is also its end. */
  readonly borders: readonly number[];
  matched: number;
}

/**
 * Returns a search (Knuth, Morris and Pratt). No character is read again, so that the time grows
 * with the text and not with the number of its pieces.
 */
export function newStopSearch(texts: readonly string[]): StopSearch {
  const matchers = texts.map((text): Matcher => ({ text, borders: bordersOf(text), matched: 0 }));
  let length = 0;

  function advance(matcher: Matcher, character: string): boolean {
    const { text, borders } = matcher;
    while (matcher.matched > 0 && text.charAt(matcher.matched) !== character) {
      matcher.matched = borders[matcher.matched - 1] ?? 0;
    }
    if (text.charAt(matcher.matched) === character) matcher.matched += 1;
    return matcher.matched === text.length;
  }

  return {
    add(piece) {
      for (let at = 0; at < piece.length; at++) {
        length += 1;
        let longest = "";
        for (const matcher of matchers) {
          const isFound = advance(matcher, piece.charAt(at));
          if (isFound && matcher.text.length > longest.length) longest = matcher.text;
        }
        if (longest !== "") return { start: length - longest.length, text: longest };
      }
      return null;
    },
    pending: () => matchers.reduce((most, { matched }) => Math.max(most, matched), 0),
  };
}

function bordersOf(text: string): readonly number[] {
  const borders = [0];
  let length = 0;
  for (let at = 1; at < text.length; at++) {
    while (length > 0 && text.charAt(at) !== text.charAt(length)) length = borders[length - 1] ?? 0;
    if (text.charAt(at) === text.charAt(length)) length += 1;
    borders.push(length);
  }
  return borders;
}
