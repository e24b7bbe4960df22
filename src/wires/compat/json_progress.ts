/** Tracks whether a JSON object that arrives in parts is complete. */
export interface JsonProgress {
  /** Reads the next part of the text. */
  add(piece: string): void;
  /** True after the end of the object. */
  isWhole(): boolean;
}

const QUOTE = 34, BACKSLASH = 92;
const OPEN_BRACE = 123, CLOSE_BRACE = 125, OPEN_BRACKET = 91, CLOSE_BRACKET = 93;

/** Returns a tracker for a new text. Each character is read once. */
export function newJsonProgress(): JsonProgress {
  let depth = 0;
  let isWhole = false;
  let isInString = false;
  let isEscaped = false;

  function readInString(code: number) {
    if (isEscaped) isEscaped = false;
    else if (code === BACKSLASH) isEscaped = true;
    else if (code === QUOTE) isInString = false;
  }

  return {
    add(piece) {
      for (let at = 0; at < piece.length; at++) {
        const code = piece.charCodeAt(at);
        if (isInString) readInString(code);
        else if (code === QUOTE) isInString = true;
        else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
        else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
          depth -= 1;
          if (depth === 0) isWhole = true;
        }
      }
    },
    isWhole: () => isWhole,
  };
}
