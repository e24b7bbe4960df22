import { countMatches, type PrivacyCounts } from "../core/privacy_counts.ts";
import { findTokens, type Replaced, tokenHeldFrom } from "./restore.ts";
import { findMatches, heldFrom } from "./response_rules.ts";
import type { Rule, TokenMap } from "./types.ts";

/**
 * How a text of an answer is written. `json`: it is the content of JSON, so that a value in it is
 * escaped. `signed`: a changed text would break its signature, so that it is only searched.
 */
export type TextKind = "plain" | "json" | "signed";

/** Part of a text of an answer that the call knows. */
export interface Part {
  readonly start: number;
  readonly end: number;
  /** What replaces it; null if it stays. */
  readonly text: string | null;
  /** The rule that matches; null for a token, `unknown` for the form of a token without a value. */
  readonly rule: Rule | "unknown" | null;
}

/** Finds the tokens of a call and the matches of its response rules in the texts of its answer. */
export interface AnswerText {
  /** True if the rules search every text, not only those with the letters of a token. */
  readonly hasRules: boolean;
  /** The first rule that masks or refuses; null if there is none. */
  readonly enforcing: Rule | null;
  /** Returns the parts of a text in order, without overlaps. */
  parts(text: string, kind: TextKind): readonly Part[];
  /**
   * Returns where the end of an unfinished text begins that more text could make a part; the length
   * of the text if there is none. Without `forRules` only a token counts.
   */
  heldFrom(text: string, kind: TextKind, forRules: boolean): number;
  /** Counts a part of the delivered answer, unless it is a copy of a part that was counted. */
  count(part: Part): void;
  /** Records a rule that refuses the answer. */
  refuse(rule: Rule): void;
  /** Returns the rule that refuses the answer; null if none does. */
  refusal(): Rule | null;
}

/** Returns the search of the texts of one answer. Without `counts` its parts are not counted. */
export function newAnswerText(
  tokens: TokenMap,
  rules: readonly Rule[],
  counts: PrivacyCounts | null,
): AnswerText {
  let refused: Rule | null = null;

  function tokenParts(text: string, kind: TextKind): Part[] {
    const unknown: Part[] = [];
    const found = findTokens(text, tokens, (start, end) => {
      unknown.push({ start, end, text: null, rule: "unknown" });
    });
    const parts = found.map((token) => ({ ...token, text: written(token, kind), rule: null }));
    return unknown.length === 0 ? parts : merge(parts, unknown);
  }

  return {
    hasRules: rules.length > 0,
    enforcing: rules.find(({ action }) => action !== "monitor") ?? null,
    parts(text, kind) {
      const found = tokens.size > 0 || rules.length > 0 ? tokenParts(text, kind) : [];
      if (rules.length === 0) return found;
      const matches = findMatches(text, rules).map(({ start, end, rule, label }): Part => {
        const text = rule.action === "mask" && kind !== "signed" ? `[${label}]` : null;
        return { start, end, text, rule };
      });
      // A token is no match, and what overlaps it is none either.
      const own = found.filter(({ rule }) => rule === null);
      const others = matches.filter((match) => !overlapsOne(match, own));
      return merge(found.filter((part) => !overlapsOne(part, others)), others);
    },
    heldFrom(text, kind, forRules) {
      const hasTokens = tokens.size > 0 && kind !== "signed";
      const held = hasTokens ? tokenHeldFrom(text, tokens) : text.length;
      return forRules ? Math.min(held, heldFrom(text, rules)) : held;
    },
    count({ rule, text }) {
      if (counts === null) return;
      if (rule === null) counts.restored += text === null ? 0 : 1;
      else if (rule === "unknown") counts.unknown += 1;
      else countMatches(counts, rule, 1);
    },
    refuse: (rule) => void (refused ??= rule),
    refusal: () => refused,
  };
}

function written({ text }: Replaced, kind: TextKind): string | null {
  if (kind === "signed") return null;
  return kind === "json" ? JSON.stringify(text).slice(1, -1) : text;
}

/** True if a part overlaps one of these parts, which are in order. */
function overlapsOne({ start, end }: Part, others: readonly Part[]): boolean {
  let low = 0;
  let high = others.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((others[middle]?.end ?? 0) > start) high = middle;
    else low = middle + 1;
  }
  const next = others[low];
  return next !== undefined && next.start < end;
}

function merge(a: readonly Part[], b: readonly Part[]): Part[] {
  return [...a, ...b].sort((x, y) => x.start - y.start);
}
