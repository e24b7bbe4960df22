import { parseJson } from "../core/json/json.ts";
import type { Part } from "./answer_text.ts";
import { annotatedTexts } from "./event_channels.ts";
import { atOnce } from "../core/at_once.ts";
import { charsIn, charSteps, type Move, movedPosition, movesOf } from "./moves.ts";

/** Characters of events whose texts are not counted yet. They count in no budget of memory. */
const MAX_UNCOUNTED_CHARS = 16 * 1024;

/** Counted size of a text whose characters are counted. */
const COUNTED_CHARS = 64;

/** Maximum number of texts whose positions are known, and of their changes. */
const MAX_TEXTS = 1_024, MAX_MOVES = 50_000;

/** Form of an event whose text may have annotations in later ones. */
const MAY_BE_ANNOTATED = /"choices"|\.delta"/;

/** How the texts of a stream have changed so far. */
export interface StreamPositions {
  /**
   * Adds an event without a token, whose texts are only counted if a position asks for them.
   * Returns the rest of the work if the event is long; null for none.
   */
  passed(data: string): Generator<void, void, void> | null;
  /** Adds decided text of a channel with its parts. */
  decided(channel: string, text: string, parts: readonly Part[]): void;
  /** True if a text has changed. */
  hasMoved(): boolean;
  /** Returns where a position in a text of the provider is in the text that the client gets. */
  moved(channel: string, at: number, isEnd: boolean): number;
}

interface Counted {
  readonly channel: string;
  readonly chars: number;
  readonly moves: readonly Move[];
}

interface TextMoves {
  chars: number;
  readonly moves: Move[];
}

/** Returns the positions of a stream that has not begun. */
export function newStreamPositions(): StreamPositions {
  const texts = new Map<string, TextMoves>();
  let waiting: (string | Counted)[] = [];
  let waitingChars = 0;
  let hasMoved = false;
  let moveCount = 0;

  function wait(one: string | Counted, chars: number): void {
    waiting.push(one);
    waitingChars += chars;
    if (waitingChars > MAX_UNCOUNTED_CHARS) count();
  }

  function count(): void {
    for (const one of waiting) {
      if (typeof one === "string") atOnce(countEvent(one));
      else add(one);
    }
    waiting = [];
    waitingChars = 0;
  }

  function* countEvent(data: string): Generator<void, void, void> {
    const value = parseJson(data);
    if (value === undefined) return;
    for (const [channel, text] of annotatedTexts(value)) {
      add({ channel, chars: yield* charSteps(text, 0, text.length), moves: [] });
    }
  }

  function add({ channel, chars, moves }: Counted): void {
    let text = texts.get(channel);
    if (text === undefined) {
      if (texts.size >= MAX_TEXTS) return;
      texts.set(channel, text = { chars: 0, moves: [] });
    }
    const { end = 0, newEnd = 0 } = text.moves.at(-1) ?? {};
    const newChars = text.chars - end + newEnd;
    for (const move of moves) {
      if (++moveCount > MAX_MOVES) break;
      text.moves.push({
        start: text.chars + move.start,
        end: text.chars + move.end,
        newStart: newChars + move.newStart,
        newEnd: newChars + move.newEnd,
      });
    }
    text.chars += chars;
  }

  return {
    passed(data) {
      if (!MAY_BE_ANNOTATED.test(data)) return null;
      if (data.length > MAX_UNCOUNTED_CHARS) {
        count();
        return countEvent(data);
      }
      wait(data, data.length);
      return null;
    },
    decided(channel, text, parts) {
      const moves = movesOf(text, parts);
      hasMoved ||= moves.length > 0;
      wait({ channel, chars: charsIn(text), moves }, COUNTED_CHARS * (1 + moves.length));
    },
    hasMoved: () => hasMoved,
    moved(channel, at, isEnd) {
      count();
      return movedPosition(texts.get(channel)?.moves ?? [], at, isEnd);
    },
  };
}
