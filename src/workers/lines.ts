/** A line of a text; `dropped` in the place of one that is longer than its limit. */
export type Line =
  | { readonly kind: "whole"; readonly text: string }
  | { readonly kind: "dropped"; readonly chars: number };

/**
 * Returns a reader of lines of at most `maxChars` characters each; of a longer line it stores
 * nothing.
 */
export function newLineReader(maxChars: number) {
  let pieces: string[] = [];
  let chars = 0;

  function add(piece: string): void {
    chars += piece.length;
    if (chars > maxChars) pieces = [];
    else pieces.push(piece);
  }

  function take(): Line {
    const line: Line = chars > maxChars
      ? { kind: "dropped", chars }
      : { kind: "whole", text: pieces.join("") };
    pieces = [];
    chars = 0;
    return line;
  }

  return {
    /** Returns the lines that this piece completes. */
    push(piece: string): readonly Line[] {
      const parts = piece.split("\n");
      const last = parts.pop() ?? "";
      const lines = parts.map((part) => {
        add(part);
        return take();
      });
      add(last);
      return lines;
    },
    /** Returns the text after the last line end as a line. */
    rest: (): Line | null => chars === 0 ? null : take(),
  };
}
