import { countMatch, newPrivacyCounts, type PrivacyCounts } from "../core/privacy_counts.ts";
import { type Span, splice } from "../formats/edit.ts";
import { findTokens, type FoundToken, tokenHeldFrom, tokenSteps } from "./restore.ts";
import { behindEscapes, heldFrom, insideTexts, newSearch, search } from "./search.ts";
import { withoutBorders } from "./text_borders.ts";
import type { Match, Rule, TokenMap } from "./types.ts";

/**
 * How a text of an answer is written. `json`: it is the content of JSON, so that a value in it is
 * escaped. `signed`: a changed text would break its signature, so that it is only searched.
 * `sealed`: thinking that the gateway has sealed, in which that is searched.
 */
export type TextKind = "plain" | "json" | "signed" | "sealed";

/** Part of a text of an answer that the gateway knows. */
export interface Part extends Span {
  /** Replacement; null if it stays. */
  readonly text: string | null;
  /** The rule that matches; null for the form of a token. */
  readonly rule: Rule | null;
}

/** Finds in the texts of one answer what is changed or counted. */
export interface AnswerText {
  /** False if only texts with the letters of a token have parts. */
  readonly searchesAll: boolean;
  /**
   * True if log probabilities are left out: they have the text of the provider in pieces, in which
   * no rule finds a value.
   */
  readonly hidesLogprobs: boolean;
  /**
   * Returns the parts of a text in order, which begin at `from` or later: what is before it is only
   * looked at. Those that are replaced do not overlap each other.
   */
  parts(text: string, kind: TextKind, from?: number): readonly Part[];
  /** Yields the same of a joined text, those of one piece of it at a time. */
  partSteps(text: string, kind: TextKind): Generator<readonly Part[], void, void>;
  /**
   * Returns where the end of an unfinished text begins that more text could make a part; the length
   * of the text if there is none.
   */
  heldFrom(text: string, kind: TextKind): number;
  /** Returns the search for one text that comes in pieces. */
  inStream(): AnswerText;
  /** Counts a part of the answer, unless it repeats an earlier one; a rule may refuse either. */
  count(part: Part, isRepetition?: boolean): void;
  /** Refuses the answer, because of a part or because too much is held. */
  refuse(): void;
  isRefused(): boolean;
}

/** Returns the search for the tokens of a call. */
export function newTokenText(tokens: TokenMap, counts: PrivacyCounts): AnswerText {
  function partOf({ start, end, value }: FoundToken, kind: TextKind): Part {
    const written = kind === "json" && value !== null ? JSON.stringify(value).slice(1, -1) : value;
    return { start, end, text: written, rule: null };
  }

  return {
    searchesAll: false,
    hidesLogprobs: false,
    parts(text, kind) {
      return kind === "signed" ? [] : findTokens(text, tokens).map((one) => partOf(one, kind));
    },
    *partSteps(text, kind) {
      if (kind === "signed") return;
      for (const found of tokenSteps(text, tokens)) yield found.map((one) => partOf(one, kind));
    },
    heldFrom: (text, kind) => kind === "signed" ? text.length : tokenHeldFrom(text, tokens),
    inStream() {
      return this;
    },
    count({ text }, isRepetition = false) {
      if (isRepetition) return;
      if (text === null) counts.unknown += 1;
      else counts.restored += 1;
    },
    refuse: () => {},
    isRefused: () => false,
  };
}

/** True if one of the rules does more than count. */
export function changesAnswers(rules: readonly Rule[]): boolean {
  return rules.some(({ action }) => action !== "monitor");
}

/** Maximum number of texts without a match that an answer remembers, and of their characters. */
const MAX_CLEAN_TEXTS = 1_024, MAX_CLEAN_CHARS = 64;

/** Returns a search that masks the matches of rules whatever their action is, and counts none. */
export function newMaskText(rules: readonly Rule[]): AnswerText {
  return newRuleText(rules.map((rule) => ({ ...rule, action: "mask" })), newPrivacyCounts());
}

/** Returns what is in the place of a match that a rule masks. */
function maskOf(text: string, match: Match, kind: TextKind): string {
  const mask = `[${match.label}]`;
  if (kind !== "json") return mask;
  const { start, end } = match;
  const parts = insideTexts(text, match);
  return splice(
    text.slice(start, end),
    parts.map((one) => ({ start: one.start - start, end: one.end - start, text: mask })),
  );
}

/** Returns the search for the matches of response rules, of which a token is none. */
export function newRuleText(rules: readonly Rule[], counts: PrivacyCounts): AnswerText {
  let isRefused = false;
  /** Texts without a match: most names and words of a protocol are in each event. */
  const clean = new Set<string>();
  const isConditional = rules.some(({ finders }) =>
    finders.some(({ inStream }) => inStream !== undefined)
  );

  function remember(text: string, matches: readonly Match[]): readonly Match[] {
    const isClean = matches.length === 0 && text.length <= MAX_CLEAN_CHARS;
    if (isClean && clean.size < MAX_CLEAN_TEXTS) clean.add(text);
    return matches;
  }

  const partsOf = (text: string, matches: readonly Match[], kind: TextKind) =>
    (kind === "json" ? behindEscapes(text, matches) : matches).map((match) => {
      const { start, end, rule } = match;
      const isMasked = rule.action === "mask" && kind !== "signed";
      return { start, end, text: isMasked ? maskOf(text, match, kind) : null, rule };
    }).sort((a, b) => a.start - b.start);

  const whole = (text: string, kind: TextKind) =>
    clean.has(text) ? [] : partsOf(text, remember(text, search(text, rules)), kind);

  return {
    searchesAll: true,
    hidesLogprobs: changesAnswers(rules),
    parts(text, kind, from = 0) {
      const own = withoutBorders(text);
      return from === 0 ? whole(own, kind) : partsOf(own, search(own, rules, from), kind);
    },
    *partSteps(text, kind) {
      if (text.length <= MAX_CLEAN_CHARS) return void (yield whole(text, kind));
      const pieces = newSearch(text, rules);
      for (let isDone = false; !isDone;) {
        isDone = !pieces.next();
        yield partsOf(text, pieces.matches(), kind);
      }
    },
    heldFrom: (text) => heldFrom(text, rules),
    inStream() {
      if (!isConditional) return this;
      const own = rules.map((rule) => ({
        ...rule,
        finders: rule.finders.map((finder) => finder.inStream?.(rule) ?? finder),
      }));
      return {
        ...this,
        parts: (text, kind, from) => partsOf(text, search(withoutBorders(text), own, from), kind),
        heldFrom: (text) => heldFrom(text, own),
      };
    },
    count({ rule, text }, isRepetition = false) {
      if (rule === null) return;
      if (!isRepetition) countMatch(counts, rule);
      // A mask that cannot be written refuses the answer as well.
      isRefused ||= rule.action !== "monitor" && text === null;
    },
    refuse: () => void (isRefused ||= changesAnswers(rules)),
    isRefused: () => isRefused,
  };
}
