/** Watches the pieces of a JSON text. */
export interface JsonEnd {
  /** Looks at the next piece. */
  add(piece: string): void;
  /** True once an object has been closed: what comes after can only be blanks. */
  isReached(): boolean;
}

/** Finds out where the text of one JSON object ends, piece by piece, without parsing it again. */
export function jsonEnd(): JsonEnd {
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
