/** Longest time of a search before other work has its turn, in milliseconds. */
const MAX_PIECE_MS = 8;

/** Divides a search into pieces, and ends it when it takes too long. */
export interface Pace {
  /** Null if the next piece may begin now; else a promise of its turn. */
  next(): Promise<void> | null;
  /** True if the pieces have taken longer together than a search may. */
  isOver(): boolean;
  /** Returns the time of all pieces in milliseconds. */
  spentMs(): number;
}

/** Returns the pace of one search. `turn` resolves when other work has had its turn. */
export function newPace(
  now: () => number,
  turn: () => Promise<void>,
  maxMs: number,
): Pace {
  let spent = 0;
  let began = now();

  async function pause(): Promise<void> {
    await turn();
    began = now();
  }

  return {
    next() {
      const piece = now() - began;
      if (piece < MAX_PIECE_MS) return null;
      spent += piece;
      began = now();
      return pause();
    },
    isOver: () => spent > maxMs,
    spentMs: () => spent + now() - began,
  };
}

/** The pace of a search in one piece, as of a command. */
export const NO_PACE: Pace = { next: () => null, isOver: () => false, spentMs: () => 0 };

/** Characters of a text that are looked at in one piece. */
export const PIECE_CHARS = 256 * 1024;

/**
 * Returns a test of a whole text that can be interrupted: true if `test` is true for one of its
 * pieces, each with as many characters behind it as what is looked for has.
 */
export function newPiecesTest(
  test: (piece: string) => boolean,
  chars: number,
): (text: string) => Generator<void, boolean, void> {
  return function* (text) {
    for (let at = 0; at < text.length; at += PIECE_CHARS) {
      if (test(text.slice(at, at + PIECE_CHARS + chars))) return true;
      yield;
    }
    return false;
  };
}
