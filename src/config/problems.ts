/** Where a value stands in the file: keys and list indices. */
export type Path = readonly (string | number)[];

/** Something to tell about one place of the file. Its text never holds a value from the file. */
export interface Problem {
  readonly path: Path;
  readonly text: string;
  /** What the position points at: the key, the value, or a character of the file. */
  readonly at: "key" | "value" | number;
}

/** A position in the file, both counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A problem in one line: `path.to.key: what is wrong (line L, column C)`. */
export function describe(place: string, text: string, { line, column }: Position): string {
  return `${place}: ${text} (line ${line}, column ${column})`;
}

/** What to say about a key that is not known, with the likely one of those that are. */
export function unknownKey(key: string, known: readonly string[]): string {
  const likely = nearest(key, known);
  return likely === null ? "is not a known key" : `is not a known key; did you mean "${likely}"?`;
}

/** The one of the words that is most like the given one; null when none is like it. */
export function nearest(word: string, words: readonly string[]): string | null {
  const plain = simplified(word);
  let best: string | null = null;
  let least = Math.min(3, Math.floor(plain.length / 3) + 1);
  if (plain.length > 40) return null;
  for (const candidate of words) {
    const distance = editDistance(plain, simplified(candidate));
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

function simplified(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, "");
}

/** How many letters must be added, dropped, replaced or swapped with their neighbour. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
      ));
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
