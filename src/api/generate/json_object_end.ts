/** Detects the end of one JSON object in a stream of text. */
export interface JsonEnd {
  /** Scans the next piece of the text. */
  add(piece: string): void;
  /** True if the outermost object is closed: only white space can follow. */
  isReached(): boolean;
}

/** Creates a scanner that finds the end of a JSON object and reads each character only once. */
export function newJsonEnd(): JsonEnd {
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let isReached = false;

  function look(character: string): void {
    if (isEscaped) {
      isEscaped = false;
    } else if (isInString) {
      isEscaped = character === "\\";
      isInString = character !== '"';
    } else if (character === '"') {
      isInString = true;
    } else if (character === "{" || character === "[") {
      depth += 1;
    } else if (character === "}" || character === "]") {
      depth -= 1;
      isReached ||= depth === 0;
    }
  }

  return {
    add(piece) {
      for (const character of piece) look(character);
    },
    isReached: () => isReached,
  };
}
