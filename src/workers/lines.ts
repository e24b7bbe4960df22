/** Splits text that arrives in pieces into lines. */
export interface LineReader {
  /** Returns the lines that this piece completes; null once an unfinished line exceeds the limit. */
  push(piece: string): readonly string[] | null;
  /** Returns the text after the last line end. */
  rest(): string;
}

/** Returns a reader of lines of at most `maxChars` characters each. */
export function newLineReader(maxChars: number): LineReader {
  let pieces: string[] = [];
  let length = 0;

  return {
    push(piece) {
      const [first = "", ...others] = piece.split("\n");
      pieces.push(first);
      length += first.length;
      if (length > maxChars) return null;
      const last = others.pop();
      if (last === undefined) return [];
      const lines = [pieces.join(""), ...others];
      pieces = [last];
      length = last.length;
      return length > maxChars || others.some((line) => line.length > maxChars) ? null : lines;
    },
    rest: () => pieces.join(""),
  };
}
