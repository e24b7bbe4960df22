import { newSearch } from "../privacy/search.ts";
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

/**
 * Returns a text in which the matches of rules are replaced by their labels in brackets, whatever
 * the rules would do with them. JSON, also several documents or the beginning of one, stays JSON:
 * strings are searched without their escapes, and no match reaches over a quote.
 */
export function maskText(text: string, rules: readonly Rule[], checkTime?: CheckTime): string {
  const pieces = piecesOf(text);
  const searched = pieces.map((piece) => searchedText(piece.text)).join("\0");
  const matches = matchesIn(searched, rules, checkTime);
  if (matches.length === 0) return text;
  let index = 0;
  let offset = 0;
  const masked = pieces.map(({ raw, text }, at) => {
    const isString = at % 2 === 1;
    let result = "";
    let from = 0;
    for (let match = matches[index]; match !== undefined; match = matches[++index]) {
      const start = match.start - offset;
      if (start >= text.length) break;
      const end = Math.min(match.end - offset, text.length);
      const label = `[${match.label}]`;
      const isNumber = !isString && NUMBER.test(text.slice(start, end));
      result += text.slice(from, start) + (isNumber ? `"${label}"` : label);
      from = end;
    }
    offset += text.length + 1;
    if (from === 0) return raw;
    result += text.slice(from);
    return raw === text ? result : JSON.stringify(result).slice(1, -1);
  });
  return masked.join('"');
}

/** A number, which is no label between quotes any more. */
const NUMBER = /^[\d.eE+-]+$/;

const ALL_MASK = new WeakMap<readonly Rule[], readonly Rule[]>();

/** Returns the matches of rules, which mask whatever they do elsewhere, in their order. */
function matchesIn(text: string, rules: readonly Rule[], checkTime?: CheckTime): readonly Match[] {
  let masking = ALL_MASK.get(rules);
  if (masking === undefined) {
    ALL_MASK.set(rules, masking = rules.map((rule) => ({ ...rule, action: "mask" })));
  }
  const search = newSearch(text, masking);
  while (search.next()) checkTime?.();
  return search.matches();
}

/** Quotes of JSON in a string, with the backslashes that escape them there. */
const INNER_QUOTE = /\\*"/g;

/** Returns a text of the same length in which a quote is what no match reaches over. */
function searchedText(text: string): string {
  return text.includes('"') ? text.replace(INNER_QUOTE, ({ length }) => "\0".repeat(length)) : text;
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
