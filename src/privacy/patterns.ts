import { RE2JS } from "re2js";
import type { Check } from "./checks.ts";
import type { Span } from "../formats/edit.ts";
import { startOfRun } from "./detectors/characters.ts";
import type { Finder } from "./types.ts";

/**
 * Maximum number of pieces of a stream for which a match waits for one of the texts of `contains`,
 * and of the characters behind it.
 */
const MAX_WAITING_PIECES = 64, MAX_WAITING_CHARS = 16 * 1024;

/** Settings of a pattern of the file besides its text. */
export interface PatternOptions {
  /** One of these texts is in each string that is searched; none for no condition. */
  readonly contains: readonly string[];
  readonly check: Check | null;
  readonly maxChars: number;
}

/**
 * Returns the finder of a pattern of RE2, in linear time. A longer match counts to `maxChars`, and
 * of a pattern with a group `value` only that part.
 */
export function newPatternFinder(
  label: string,
  source: string,
  { contains, check, maxChars }: PatternOptions,
): Finder {
  const pattern = RE2JS.compile(source);
  const hasValue = "value" in pattern.namedGroups();
  /** The string whose condition was looked at last: mostly it is searched piece by piece. */
  let known = { text: "", start: -1, contains: false };

  function containsOne(text: string, start: number, end: number): boolean {
    if (contains.length === 0) return true;
    if (known.text !== text || known.start !== start) {
      const part = text.slice(start, end);
      known = { text, start, contains: contains.some((one) => part.includes(one)) };
    }
    return known.contains;
  }

  const base = { label, maxChars, needsWhole: true } as const;
  const heldFrom = (text: string, chars = maxChars) => startOfRun(text, chars, () => true);
  const conditionChars = Math.max(maxChars, ...contains.map(({ length }) => length));
  const finder: Finder = {
    ...base,
    find(text, from, to, found) {
      // Strings are searched together, with this character between them.
      for (let part = startOfPart(text, from); part < to;) {
        const separator = text.indexOf("\0", part);
        const end = separator < 0 ? text.length : separator;
        if (containsOne(text, part, end)) findIn(text, Math.max(part, from), to, end, found);
        part = end + 1;
      }
      // The text of a request is not kept beyond its search.
      if (to >= text.length) known = { text: "", start: -1, contains: false };
    },
    heldFrom: (text) => heldFrom(text),
  };
  return contains.length === 0 ? finder : { ...finder, inStream };

  function inStream({ action, except }: Parameters<NonNullable<Finder["inStream"]>>[0]): Finder {
    let isMet = false;
    let waited = 0;
    return {
      ...base,
      find(text, from, to, found) {
        isMet ||= contains.some((one) => text.includes(one));
        if (isMet) findIn(text, from, to, text.length, found);
      },
      heldFrom(text) {
        if (isMet) return heldFrom(text);
        const held = heldFrom(text, conditionChars);
        if (action === "monitor") return held;
        const first = matchesIn(text, 0, text.length)
          .find(({ start, end }) => !except.has(text.slice(start, end)));
        if (first === undefined) return held;
        isMet = ++waited > MAX_WAITING_PIECES || text.length - first.start > MAX_WAITING_CHARS;
        return Math.min(held, first.start);
      },
    };
  }

  /** Finds the matches that begin between `from` and `to` in a string that ends at `end`. */
  function findIn(
    text: string,
    from: number,
    to: number,
    end: number,
    found: (start: number, end: number) => void,
  ): void {
    // One character before it, for the boundaries of words.
    const begin = text[from - 1] === "\0" ? from : Math.max(0, from - 1);
    const piece = text.slice(begin, Math.min(end, to + maxChars + 1));
    for (const match of matchesIn(piece, from - begin, to - begin)) {
      found(begin + match.start, begin + match.end);
    }
  }

  function* matchesIn(text: string, from: number, to: number): Generator<Span, void, void> {
    const matcher = pattern.matcher(text);
    for (let next = from; next <= text.length && matcher.find(next);) {
      const begin = matcher.start();
      if (begin >= to) return;
      const start = hasValue ? matcher.start("value") : begin;
      const end = Math.min(hasValue ? matcher.end("value") : matcher.end(), start + maxChars);
      const isMatch = start >= 0 && end > start &&
        (check === null || check(text.slice(start, end)));
      if (isMatch) yield { start, end };
      next = Math.max(begin + 1, isMatch ? end : matcher.end());
    }
  }
}

function startOfPart(text: string, from: number): number {
  return from === 0 ? 0 : text.lastIndexOf("\0", from - 1) + 1;
}
