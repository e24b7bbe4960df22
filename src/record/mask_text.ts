import type { Span } from "../formats/edit.ts";
import { heldFrom, newSearch } from "../privacy/search.ts";
import { PART_BORDER, STRING_BORDER, withoutBorders } from "../privacy/text_borders.ts";
import type { Match, Rule } from "../privacy/types.ts";

/** A part of a text between two quotes. */
interface Piece {
  readonly raw: string;
  /** The text without the escapes of JSON; the raw one if it has none. */
  readonly text: string;
}

/** The time for masking is used up. */
export class MaskingTimeout extends Error {}

/** Throws a `MaskingTimeout` when the time for masking is used up. */
export type CheckTime = () => void;

/** A rule that masks. */
export type MaskingRule = Rule & { readonly action: "mask" };

/** Returns rules that mask, whatever these do elsewhere. */
export function maskingRules(rules: readonly Rule[]): readonly MaskingRule[] {
  return rules.map((rule) => ({ ...rule, action: "mask" }));
}

/**
 * Returns a text in which the matches of rules are replaced by their labels in brackets. JSON, also
 * several documents or the beginning of one, stays JSON: strings are searched without their
 * escapes, and no match reaches over a quote.
 */
export function maskText(
  text: string,
  rules: readonly MaskingRule[],
  checkTime?: CheckTime,
): string {
  const pieces = piecesOf(text);
  const joined = pieces.map((piece) => searchedText(piece.text)).join(STRING_BORDER);
  const matches = matchesIn(joined, rules, checkTime);
  if (matches.length === 0) return text;
  let index = 0;
  let offset = 0;
  const masked = pieces.map(({ raw, text }, at) => {
    const numberAt = at % 2 === 1 ? () => null : newNumberSearch(text);
    let result = "";
    let from = 0;
    for (let match = matches[index]; match !== undefined; match = matches[++index]) {
      const start = match.start - offset;
      if (start >= text.length) break;
      const own = { start, end: Math.min(match.end - offset, text.length) };
      const number = numberAt(own);
      const hidden = number ?? own;
      // Of a number that is replaced already.
      if (hidden.end <= from) continue;
      const label = `[${match.label}]`;
      result += text.slice(from, hidden.start) + (number === null ? label : `"${label}"`);
      from = hidden.end;
    }
    offset += text.length + 1;
    if (from === 0) return raw;
    result += text.slice(from);
    return raw === text ? result : JSON.stringify(result).slice(1, -1);
  });
  return masked.join('"');
}

/**
 * Returns the matches of rules in a text without the escapes of JSON, as `maskText` finds them in a
 * string.
 */
export function matchesInString(
  text: string,
  rules: readonly MaskingRule[],
  checkTime?: CheckTime,
): readonly Match[] {
  return matchesIn(searchedText(text), rules, checkTime);
}

function matchesIn(
  text: string,
  rules: readonly MaskingRule[],
  checkTime?: CheckTime,
): readonly Match[] {
  const search = newSearch(text, rules);
  while (search.next()) checkTime?.();
  return search.matches();
}

/** Characters at the end of a text in which an unfinished match is looked for. */
const MAX_TAIL_CHARS = 64 * 1024;

/**
 * Returns a text that was cut, without what may be the beginning of a match at its end: the rest
 * that would show it to be one is not there.
 */
export function withoutBegunMatch(text: string, rules: readonly MaskingRule[]): string {
  const last = piecesOf(text.slice(-MAX_TAIL_CHARS)).at(-1) ?? { raw: "", text: "" };
  const held = heldFrom(searchedText(last.text), rules);
  if (held === last.text.length) return text;
  const kept = last.text.slice(0, held);
  const written = last.raw === last.text ? kept : JSON.stringify(kept).slice(1, -1);
  return text.slice(0, text.length - last.raw.length) + written;
}

/** A number of JSON. */
const NUMBER = /(?<![\w.+-])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/g;

/**
 * Returns what finds the number of which a span is a part; the spans come in their order. No part
 * of a number can be a label: JSON would be none any more.
 */
function newNumberSearch(text: string): (span: Span) => Span | null {
  let numbers: Iterator<RegExpExecArray> | null = null;
  let number: Span = { start: 0, end: 0 };
  return ({ start, end }) => {
    numbers ??= text.matchAll(NUMBER);
    while (number.end < end) {
      const { done, value } = numbers.next();
      number = done === true
        ? { start: Infinity, end: Infinity }
        : { start: value.index, end: value.index + value[0].length };
    }
    return number.start <= start ? number : null;
  };
}

/**
 * Quotes of JSON in a string, with the backslashes that escape them there. From the first of many
 * backslashes only: a search from each would take the square.
 */
const INNER_QUOTE = /(?<!\\)\\*"/g;

/** Returns a text of the same length in which a quote is what no match reaches over. */
function searchedText(text: string): string {
  const own = withoutBorders(text);
  return own.includes('"')
    ? own.replace(INNER_QUOTE, ({ length }) => PART_BORDER.repeat(length))
    : own;
}

/** Divides a text at its quotes, except those that are escaped. */
function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  for (let quote = text.indexOf('"'); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (before > start && text[before - 1] === "\\") before--;
    if ((quote - before) % 2 === 1) continue;
    pieces.push(newPiece(text.slice(start, quote)));
    start = quote + 1;
  }
  pieces.push(newPiece(text.slice(start)));
  return pieces;
}

/** An escape at whose middle a text was cut. */
const CUT_ESCAPE = /(?<!\\)\\(?:u[0-9A-Fa-f]{0,3})?$/;

function newPiece(raw: string): Piece {
  if (!raw.includes("\\")) return { raw, text: raw };
  try {
    const text: unknown = JSON.parse(`"${raw.replace(CUT_ESCAPE, "")}"`);
    return { raw, text: typeof text === "string" ? text : raw };
  } catch {
    // The text is no JSON.
    return { raw, text: raw };
  }
}
