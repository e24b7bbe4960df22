/** Path of a value in the file: keys and list indices. */
export type Path = readonly (string | number)[];

/**
 * A problem or warning about one path of the file. Its text never contains a value from the file.
 */
export interface Problem {
  readonly path: Path;
  readonly text: string;
  /** Target of the reported position: the key, the value, or an offset in the file. */
  readonly at: "key" | "value" | number;
}

/** Returns a problem at the value of a path, or at its key. */
export function problem(path: Path, text: string, at: Problem["at"] = "value"): Problem {
  return { path, text, at };
}

/** Returns a problem for each header whose name another key of the mapping has in other letters. */
export function repeatedHeaders(headers: object, path: Path): Problem[] {
  const seen = new Set<string>();
  const text = "is set twice; header names are not case-sensitive";
  return Object.keys(headers).filter((name) => seen.size === seen.add(name.toLowerCase()).size)
    .map((name) => problem([...path, name], text, "key"));
}

/** Position in the file; line and column are counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Returns a problem as one line: `path.to.key: what is wrong (line L, column C)`. */
export function describe(place: string, text: string, { line, column }: Position): string {
  return `${place}: ${text} (line ${line}, column ${column})`;
}

/** Returns the problem text for an unknown key, with the most similar known key. */
export function unknownKey(key: string, known: readonly string[]): string {
  return `is not a known key${likelyHint(key, known)}`;
}

/**
 * Returns the end of a text that names the word most similar to `word`; empty if none is similar.
 */
export function likelyHint(word: string, words: readonly string[]): string {
  const likely = nearest(word, words);
  return likely === null ? "" : `; did you mean "${likely}"?`;
}

/** Returns the word most similar to `word`; null if none is similar. */
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

/** Returns the number of letters to insert, delete, replace or swap with their neighbour. */
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
