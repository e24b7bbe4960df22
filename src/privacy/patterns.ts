import { RE2JS } from "re2js";
import { isFirstHalf, isSecondHalf } from "../core/surrogates.ts";
import type { Check } from "./checks.ts";
import { behindLongEscape, startOfRun } from "./detectors/characters.ts";
import { PART_BORDER, STRING_BORDER } from "./text_borders.ts";
import type { Finder, Steps, TextFinder } from "./types.ts";

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

/** Characters besides its longest match that a pattern sees from the beginning of a match on. */
const CONTEXT_CHARS = 1_024;

/** Characters in which the matches of one step begin: few behind a match, more without one. */
const MIN_STEP_CHARS = 256, MAX_STEP_CHARS = 4_096;

/** Parts of patterns that depend on what follows a match. */
const SEES_END = /\$|\\[bBz]/;

/** A match of a pattern, with its part that counts. */
interface PatternMatch {
  /** Where the whole match begins and ends. */
  readonly begin: number;
  readonly last: number;
  /** Where the part begins and ends that counts; -1 if there is none. */
  readonly start: number;
  readonly end: number;
  /** True if more would count without the limit of its length. */
  readonly isCut: boolean;
}

/**
 * Returns the finder of a pattern of RE2. A longer match counts to `maxChars`, and of a pattern
 * with a group `value` only that part. The time is linear in the text: a step is given few
 * characters, because a match reads those behind its limit as well.
 */
export function newPatternFinder(
  label: string,
  source: string,
  { contains, check, maxChars }: PatternOptions,
): Finder {
  const pattern = RE2JS.compile(source);
  const hasValue = "value" in pattern.namedGroups();
  const seesEnd = SEES_END.test(source);
  const containsOne = (text: string) => contains.some((one) => text.includes(one));
  const heldFrom = (text: string, chars = maxChars) => startOfRun(text, chars, () => true);
  const conditionChars = Math.max(maxChars, ...contains.map(({ length }) => length));
  const base = { label, maxChars, findsParts: hasValue } as const;
  const finder: TextFinder = {
    ...base,
    search(text, from) {
      let next = 0;
      let stringEnd = -1;
      let partEnd = -1;
      let isMet = false;
      let steps: Steps | null = null;
      return () => {
        const step = steps?.() ?? null;
        if (step !== null || next >= text.length) return step;
        if (next > stringEnd) {
          stringEnd = endAt(text.indexOf(STRING_BORDER, next));
          isMet = contains.length === 0 || containsOne(text.slice(next, stringEnd));
        }
        if (next > partEnd) partEnd = endAt(text.indexOf(PART_BORDER, next));
        const [start, end] = [next, Math.min(stringEnd, partEnd)];
        steps = isMet ? stepsIn(text.slice(start, end), start, from - start) : null;
        next = end + 1;
        return steps?.() ?? { searched: end, match: null };
      };

      function endAt(border: number): number {
        return border < 0 ? text.length : border;
      }
    },
    heldFrom: (text) => heldFrom(text),
  };
  return contains.length === 0 ? finder : { ...finder, inStream };

  function inStream({ action, except }: Parameters<NonNullable<Finder["inStream"]>>[0]): Finder {
    let isMet = false;
    let waited = 0;
    return {
      ...base,
      search(text, from) {
        isMet ||= containsOne(text);
        return isMet ? stepsIn(text, 0, from) : () => null;
      },
      heldFrom(text) {
        if (isMet) return heldFrom(text);
        const held = heldFrom(text, conditionChars);
        if (action === "monitor") return held;
        const steps = stepsIn(text);
        for (let step = steps(); step !== null; step = steps()) {
          const { match } = step;
          if (match === null || except.has(text.slice(match.start, match.end))) continue;
          isMet = ++waited > MAX_WAITING_PIECES || text.length - match.start > MAX_WAITING_CHARS;
          return Math.min(held, match.start);
        }
        return held;
      },
    };
  }

  /** Searches a string that begins at `offset`, from a place in it on. */
  function stepsIn(text: string, offset = 0, begin = 0): Steps {
    let stepChars = MIN_STEP_CHARS;
    let isRest = false;
    let from = Math.max(0, begin);
    return () => {
      if (from >= text.length) return null;
      const to = Math.min(text.length, from + stepChars);
      const found = (isRest ? nextOfRest(text, from) : null) ??
        matchFrom(text, from, to + maxChars + CONTEXT_CHARS);
      if (found === null || found.begin >= to) {
        from = to;
        stepChars = Math.min(2 * stepChars, MAX_STEP_CHARS);
        isRest = false;
        return { searched: offset + from, match: null };
      }
      // The digits of `\u2013` are no part of what follows them.
      const behind = behindLongEscape(text, found.begin);
      if (behind > found.begin) {
        from = behind;
        return { searched: offset + from, match: null };
      }
      const { start, end } = found;
      const isMatch = start >= 0 && end > start &&
        (check === null || check(text.slice(start, end)));
      from = Math.max(found.begin + 1, isMatch ? end : found.last);
      stepChars = MIN_STEP_CHARS;
      isRest = isMatch && found.isCut;
      const match = isMatch ? { start: offset + start, end: offset + end } : null;
      return { searched: offset + from, match };
    };
  }

  /** Returns the match with which the rest of a cut one begins, if that is cut as well. */
  function nextOfRest(text: string, from: number): PatternMatch | null {
    const limit = from + 2 * maxChars + 1;
    const next = matchFrom(text, from, limit);
    const isNext = next !== null && next.begin === from && next.isCut &&
      (next.last < limit || !seesEnd);
    return isNext ? next : null;
  }

  /** Returns where the longest match ends, which has no half of a character if it can. */
  function wholeEnd(text: string, start: number): number {
    const end = start + maxChars;
    const isHalf = maxChars > 1 && isFirstHalf(text.charCodeAt(end - 1)) &&
      isSecondHalf(text.charCodeAt(end));
    return isHalf ? end - 1 : end;
  }

  /** Returns the first match that begins at `from` or later in a text that ends at `limit`. */
  function matchFrom(text: string, from: number, limit: number): PatternMatch | null {
    // One character before it, for the boundaries of words.
    const offset = Math.max(0, from - 1);
    const matcher = pattern.matcher(text.slice(offset, limit));
    if (!matcher.find(from - offset)) return null;
    const group = hasValue ? "value" : 0;
    const start = matcher.start(group);
    const end = matcher.end(group);
    return {
      begin: offset + matcher.start(),
      last: offset + matcher.end(),
      start: start < 0 ? -1 : offset + start,
      end: Math.min(offset + end, wholeEnd(text, offset + start)),
      isCut: end > start + maxChars,
    };
  }
}
