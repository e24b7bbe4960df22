import { isEscaped, newBehindJsonEscape } from "./detectors/characters.ts";
import { STRING_BORDER, withoutBorders, withoutBordersSteps } from "./text_borders.ts";
import { CORE_CHARS, MAX_LABEL_CHARS, newTokenPattern } from "./token_form.ts";
import type { Finder, LocalFinder, Match, Rule, Steps, TextFinder } from "./types.ts";

/** Characters in which matches begin that are searched in one piece. */
const PIECE_CHARS = 32 * 1024;

/** Characters before a piece in which its matches may begin. */
const MAX_BACK_CHARS = 512;

/** Characters before a piece that its matches may reach back to, besides their own length. */
const CONTEXT_CHARS = 16;

/**
 * Returns the matches of rules in a joined text that begin at `from` or later, as `Search` says.
 * What is before it is only looked at.
 */
export function search(text: string, rules: readonly Rule[], from = 0): readonly Match[] {
  const pieces = newSearch(text, rules, { from });
  while (pieces.next()) { /* the whole text */ }
  return pieces.matches();
}

/**
 * Returns strings as one text to search. No finder reads over what is between them. Can be
 * interrupted.
 */
export function* joinStrings(strings: readonly string[]): Generator<void, string, void> {
  const own: string[] = [];
  for (const text of strings) own.push(yield* withoutBordersSteps(text));
  return own.join(STRING_BORDER);
}

/** A search of a text in pieces, each of which takes a few milliseconds. */
export interface Search {
  /** Searches the next piece. False if there is none. */
  next(): boolean;
  /**
   * Returns the matches that are decided since the last call: first those that refuse, then others,
   * then those that only count, so that none of them hides a value that must not be sent. Later
   * ones begin behind them. At the end of the text all are decided.
   * Of the same kind no two overlap: the leftmost counts, of several the longest, of equal ones
   * that of the first rule.
   */
  matches(): readonly Match[];
}

/** The search of a finder that goes through a text by itself. */
interface StepSearch {
  readonly rule: Rule;
  readonly finder: TextFinder;
  readonly steps: Steps;
  /** Place before which it has found all matches. */
  searched: number;
}

/**
 * Begins a search of a joined text, in which matches begin at `from` or later in pieces of
 * `pieceChars`.
 */
export function newSearch(
  text: string,
  rules: readonly Rule[],
  { from = 0, pieceChars = PIECE_CHARS }: {
    readonly from?: number;
    readonly pieceChars?: number;
  } = {},
): Search {
  let found: Match[] = [];
  const covers = { refuse: newCover(), others: newCover(), monitor: newCover() };
  /** How far the finders have come that go through the text by themselves. */
  const begun: StepSearch[] = [];
  for (const rule of rules) {
    for (const finder of rule.finders) {
      if (!("search" in finder)) continue;
      begun.push({ rule, finder, steps: finder.search(text, from), searched: 0 });
    }
  }

  function add(rule: Rule, { label }: Finder, start: number, end: number): void {
    if (rule.except.size > 0 && rule.except.has(text.slice(start, end))) return;
    found.push({ start, end, rule, label });
  }

  function takeStep(search: StepSearch): void {
    const { searched, match } = search.steps() ?? { searched: Infinity, match: null };
    search.searched = searched;
    if (match !== null) add(search.rule, search.finder, match.start, match.end);
  }

  function searchPiece(rule: Rule, finder: LocalFinder, to: number): void {
    // Without the rest of the text: a search that finds nothing continues to its end.
    const contextChars = finder.maxChars + CONTEXT_CHARS;
    const begin = Math.max(0, from - contextChars);
    const window = text.slice(begin, to + contextChars);
    finder.find(
      window,
      from - begin,
      to - begin,
      (start, end) => add(rule, finder, begin + start, begin + end),
    );
  }

  /** Decides on the matches that begin before a place: later ones begin behind it. */
  function decide(before: number): void {
    const ordered = found.filter(({ start }) => start < before).toSorted(compareMatches);
    found = found.filter(({ start }) => start >= before);
    for (const match of withoutTokens(text, ordered)) {
      const { action } = match.rule;
      covers[action === "refuse" || action === "monitor" ? action : "others"].add(match);
    }
  }

  return {
    next() {
      if (from >= text.length) return false;
      const to = Math.min(text.length, from + pieceChars);
      const behind = begun.find(({ searched }) => searched < to);
      if (behind !== undefined) {
        takeStep(behind);
        return true;
      }
      for (const rule of rules) {
        for (const finder of rule.finders) {
          if (!("search" in finder)) searchPiece(rule, finder, to);
        }
      }
      from = to;
      decide(to < text.length ? to - MAX_BACK_CHARS : Infinity);
      return from < text.length;
    },
    matches: () => [...covers.refuse.take(), ...covers.others.take(), ...covers.monitor.take()],
  };
}

function compareMatches(a: Match, b: Match): number {
  return a.start - b.start || b.end - a.end || a.rule.order - b.rule.order;
}

/** Returns matches of which no two overlap. They are added in order. */
function newCover() {
  let matches: Match[] = [];
  let end = 0;
  return {
    take(): readonly Match[] {
      const taken = matches;
      matches = [];
      return taken;
    },
    /** Adds a match that overlaps none of those that were added before. */
    add(match: Match): void {
      if (match.start < end) return;
      matches.push(match);
      end = match.end;
    },
  };
}

/**
 * Returns the matches in a text that is the content of JSON, so that the text stays JSON when they
 * are replaced: those that begin or end within an escape do so behind it.
 */
export function behindEscapes(text: string, matches: readonly Match[]): readonly Match[] {
  const behindEscape = newBehindJsonEscape(text);
  return matches.map((match) => ({
    ...match,
    start: behindEscape(match.start),
    end: Math.min(text.length, behindEscape(match.end)),
  })).filter(({ start, end }) => start < end);
}

/** A quote that ends a text in JSON, which may be cut behind it. */
const END_QUOTE = /"\s{0,64}(?:[,:}\]]|$)/y;

/** Signs between the texts of JSON, and what is no value in any JSON, such as a short number. */
const STRUCTURE = /^(?:[\s,:{}[\]]|(?<=[\s,:[])(?:true|false|null|[\d.eE+-]{1,8})(?=[\s,}\]]))*$/;

/** The rest of a number, or of another word of JSON, in which a match ends, and the sign behind. */
const REST_OF_WORD = /(?<=[\w.+-])[\w.+-]{0,8}[\s,}\]]?/y;

/** A number of a member, of which a pattern that matches its name may mean the value. */
const NAMED_NUMBER = /^\s*:\s*[-\d]/;

/** Quotes in a match up to which its texts are replaced one by one: a request may have many. */
const MAX_QUOTE_COUNT = 16;

/** Characters before a match that a rule sees again, as it does in a stream. */
const SEEN_CHARS = 64;

/**
 * Returns the parts of a match that are replaced in the content of JSON: a pattern such as `\S+`
 * may match over the end of a text, and what is between the texts stays. The whole match if
 * anything else is there that may be a value, such as a number without which the rule has no match.
 */
export function insideTexts(text: string, match: Match): readonly Match[] {
  const { start, end } = match;
  const quotes = text.slice(start, end).matchAll(/"/g).map(({ index }) => start + index)
    .filter((at) => !isEscaped(text, at)).toArray();
  const [first] = quotes;
  if (first === undefined || quotes.length > MAX_QUOTE_COUNT) return [match];
  END_QUOTE.lastIndex = first;
  let isInside = END_QUOTE.test(text);
  let from = start;
  let isNumberLeft = false;
  const parts: Match[] = [];
  for (const quote of [...quotes, end]) {
    if (!isInside) {
      const between = text.slice(from, quote);
      const isOfFirst = parts.length === 1 && NAMED_NUMBER.test(between);
      REST_OF_WORD.lastIndex = quote;
      const [rest = ""] = REST_OF_WORD.exec(text) ?? [];
      if (isOfFirst || !STRUCTURE.test(between + rest)) return [match];
      if (!isNumberLeft && /\d/.test(between)) {
        if (!isMatchBefore(text, match, from - 1)) return [match];
        isNumberLeft = true;
      }
    }
    if (isInside && quote > from) parts.push({ ...match, start: from, end: quote });
    isInside = !isInside;
    from = quote + 1;
  }
  return parts;
}

/** True if the rule of a match has one that begins there in a text that ends at `end`. */
function isMatchBefore(text: string, { start, rule }: Match, end: number): boolean {
  if (end <= start) return false;
  const begin = Math.max(0, start - SEEN_CHARS);
  const from = rule.finders.some(({ findsParts }) => findsParts) ? 0 : start - begin;
  return search(text.slice(begin, end), [rule], from).some((one) => begin + one.start === start);
}

/** The longest token; it may begin so far before a match that it overlaps. */
const MAX_TOKEN_CHARS = CORE_CHARS + MAX_LABEL_CHARS;

const TOKEN = newTokenPattern();

/** Returns the matches that do not overlap a word in the form of a token: it is never a value. */
function withoutTokens(text: string, matches: readonly Match[]): readonly Match[] {
  return matches.filter(({ start, end }) => {
    const begin = Math.max(0, start - MAX_TOKEN_CHARS);
    const near = text.slice(begin, end + MAX_TOKEN_CHARS);
    if (!/qz/i.test(near)) return true;
    return near.matchAll(TOKEN).every(({ index, 0: { length } }) =>
      begin + index >= end || begin + index + length <= start
    );
  });
}

/**
 * Returns where the end of an unfinished text begins that could become a match of the rules, or a
 * longer one, when more text follows; the length of the text if there is none.
 */
export function heldFrom(text: string, rules: readonly Rule[]): number {
  const own = withoutBorders(text);
  let least = text.length;
  for (const { finders } of rules) {
    for (const finder of finders) least = Math.min(least, finder.heldFrom(own));
  }
  return least;
}
