import { newCorePattern } from "./token_form.ts";
import type { Finder, Match, Rule } from "./types.ts";

/** Characters in which matches begin that are searched in one piece. */
const PIECE_CHARS = 64 * 1024;

/** Characters before a piece that its matches may reach back to, besides their own length. */
const CONTEXT_CHARS = 16;

/** Returns the matches of rules in a text, as `coverMatches` chooses them. */
export function search(text: string, rules: readonly Rule[]): readonly Match[] {
  const pieces = newSearch(text, rules);
  while (pieces.next()) { /* the whole text */ }
  return pieces.matches();
}

/** A search in pieces of a text, each of which takes a few milliseconds. */
export interface Search {
  /** Searches the next piece. False if there is none. */
  next(): boolean;
  /** Returns the matches of the searched pieces, as `coverMatches` chooses them. */
  matches(): readonly Match[];
}

/** Begins a search of a text. */
export function newSearch(text: string, rules: readonly Rule[]): Search {
  const found: Match[] = [];
  let from = 0;

  function searchPiece(rule: Rule, finder: Finder, to: number): void {
    // Without the rest of the text: a search that finds nothing goes on to its end.
    const contextChars = finder.maxChars + CONTEXT_CHARS;
    const begin = finder.needsWhole === true ? 0 : Math.max(0, from - contextChars);
    const window = finder.needsWhole === true ? text : text.slice(begin, to + contextChars);
    finder.find(window, from - begin, to - begin, (start, end) => {
      if (rule.except.size > 0 && rule.except.has(window.slice(start, end))) return;
      found.push({ start: begin + start, end: begin + end, rule, label: finder.label });
    });
  }

  return {
    next() {
      if (from >= text.length) return false;
      const to = Math.min(text.length, from + PIECE_CHARS);
      for (const rule of rules) {
        for (const finder of rule.finders) searchPiece(rule, finder, to);
      }
      from = to;
      return from < text.length;
    },
    matches: () => coverMatches(withoutTokens(text, found)),
  };
}

/**
 * Returns matches of which no two overlap, in the order of the text: the leftmost first, of several
 * the longest, of equal ones that of the first rule. Those that only count are left out of it, so
 * that none of them hides a value that must not be sent; they are added behind.
 */
export function coverMatches(matches: readonly Match[]): readonly Match[] {
  if (matches.length < 2) return matches;
  const ordered = matches.toSorted((a, b) =>
    a.start - b.start || b.end - a.end || a.rule.order - b.rule.order
  );
  const isCounted = ({ rule }: Match) => rule.action === "monitor";
  const isRefused = ({ rule }: Match) => rule.action === "refuse";
  const others = ordered.filter((match) => !isCounted(match) && !isRefused(match));
  return [
    ...withoutOverlaps(ordered.filter(isRefused)),
    ...withoutOverlaps(others),
    ...withoutOverlaps(ordered.filter(isCounted)),
  ];
}

function withoutOverlaps(ordered: readonly Match[]): Match[] {
  const chosen: Match[] = [];
  let end = 0;
  for (const match of ordered) {
    if (match.start < end) continue;
    chosen.push(match);
    end = match.end;
  }
  return chosen;
}

/** Characters of a core without the last one, which may be before a match that it overlaps. */
const MAX_TOKEN_CHARS = 30;

/** Returns the matches that do not overlap a word in the form of a token: it is never a value. */
function withoutTokens(text: string, matches: readonly Match[]): readonly Match[] {
  const core = newCorePattern();
  const token = new RegExp(`${core.source}[a-z]{0,12}`, "gi");
  return matches.filter(({ start, end }) => {
    const begin = Math.max(0, start - MAX_TOKEN_CHARS);
    const near = text.slice(begin, end + MAX_TOKEN_CHARS);
    if (!/qz/i.test(near)) return true;
    return near.matchAll(token).every(({ index, 0: { length } }) =>
      begin + index >= end || begin + index + length <= start
    );
  });
}

/**
 * Returns where the end of an unfinished text begins that could become a match of the rules, or a
 * longer one, when more text follows; the length of the text if there is none.
 */
export function heldFrom(text: string, rules: readonly Rule[]): number {
  let least = text.length;
  for (const { finders } of rules) {
    for (const finder of finders) least = Math.min(least, finder.heldFrom(text));
  }
  return least;
}
