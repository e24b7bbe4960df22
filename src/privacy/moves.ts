import { isSecondHalf } from "../core/surrogates.ts";
import type { Span } from "../formats/edit.ts";
import { atOnce } from "../core/at_once.ts";
import { PIECE_CHARS } from "./pace.ts";

/**
 * A replaced part of a text, in code points: services that write positions count characters so.
 */
export interface Move {
  readonly start: number;
  readonly end: number;
  /** Where its replacement is. */
  readonly newStart: number;
  readonly newEnd: number;
}

/** Returns the number of code points of a text, of which a stream may cut one in two. */
export function charsIn(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at++) if (isSecondHalf(text.charCodeAt(at))) count--;
  return count;
}

/** Counts the code points of a part of a text. Can be interrupted. */
export function* charSteps(
  text: string,
  start: number,
  end: number,
): Generator<void, number, void> {
  let count = end - start;
  for (let at = start; at < end; at++) {
    if (isSecondHalf(text.charCodeAt(at))) count--;
    if ((at - start) % PIECE_CHARS === PIECE_CHARS - 1) yield;
  }
  return count;
}

/** A part of a text, with the text that replaces it; null if it stays. */
interface ReplacedPart extends Span {
  readonly text: string | null;
}

/** The moves of one text, as far as its parts were added. */
export interface Moves {
  readonly all: readonly Move[];
  /** Adds the next parts, in order; those that stay move nothing. Can be interrupted. */
  add(parts: readonly ReplacedPart[]): Generator<void, void, void>;
}

/** Returns the moves of a text without parts. */
export function newMoves(text: string): Moves {
  const all: Move[] = [];
  let [at, chars, newChars] = [0, 0, 0];
  return {
    all,
    *add(parts) {
      for (const part of parts) {
        if (part.text === null) continue;
        const between = yield* charSteps(text, at, part.start);
        const move = {
          start: chars + between,
          end: chars + between + (yield* charSteps(text, part.start, part.end)),
          newStart: newChars + between,
          newEnd: newChars + between + charsIn(part.text),
        };
        all.push(move);
        at = part.end;
        [chars, newChars] = [move.end, move.newEnd];
      }
    },
  };
}

/** Returns the moves of a text whose parts are known. */
export function movesOf(text: string, parts: readonly ReplacedPart[]): readonly Move[] {
  if (parts.length === 0) return [];
  const moves = newMoves(text);
  atOnce(moves.add(parts));
  return moves.all;
}

/**
 * Returns where a position of the text before is in the text after. In a replaced part a beginning
 * is that of its replacement, and an end keeps its distance to the end, because some services name
 * the last character.
 */
export function movedPosition(moves: readonly Move[], at: number, isEnd: boolean): number {
  const move = lastBefore(moves, at);
  if (move === null) return at;
  const { end, newStart, newEnd } = move;
  if (at >= end) return newEnd + at - end;
  return isEnd ? Math.max(newStart, newEnd - (end - at)) : newStart;
}

/** Returns the last move that begins before a position, by bisection. */
function lastBefore(moves: readonly Move[], at: number): Move | null {
  let low = 0;
  let high = moves.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((moves[middle]?.start ?? at) < at) low = middle + 1;
    else high = middle;
  }
  return moves[low - 1] ?? null;
}

/** Returns the moves back: from the text after to the text before. */
export function inverted(moves: readonly Move[]): readonly Move[] {
  return moves.map(({ start, end, newStart, newEnd }) => ({
    start: newStart,
    end: newEnd,
    newStart: start,
    newEnd: end,
  }));
}
