import { search } from "../privacy/search.ts";
import type { Rule } from "../privacy/types.ts";

/** A part of a text between two quotes. */
interface Piece {
  readonly raw: string;
  /** The text without the escapes of JSON; the raw one if it has none. */
  readonly text: string;
}

/** Returns the rules of a policy as they act on records: what they find is masked. */
export function maskingRules(rules: readonly Rule[]): readonly Rule[] {
  return rules.filter(({ action }) => action !== "monitor")
    .map((rule) => ({ ...rule, action: "mask" }));
}

/**
 * Returns a text in which the matches of masking rules are replaced by their labels in brackets.
 * JSON, also several documents or the beginning of one, stays JSON: strings are searched without
 * their escapes, and no match reaches over a quote.
 */
export function maskText(text: string, rules: readonly Rule[]): string {
  const pieces = piecesOf(text);
  const matches = search(pieces.map((piece) => searchedText(piece.text)).join("\0"), rules);
  if (matches.length === 0) return text;
  let index = 0;
  let offset = 0;
  const masked = pieces.map(({ raw, text }) => {
    let result = "";
    let at = 0;
    for (let match = matches[index]; match !== undefined; match = matches[++index]) {
      const start = match.start - offset;
      if (start >= text.length) break;
      result += `${text.slice(at, start)}[${match.label}]`;
      at = Math.min(match.end - offset, text.length);
    }
    offset += text.length + 1;
    if (at === 0) return raw;
    result += text.slice(at);
    return raw === text ? result : JSON.stringify(result).slice(1, -1);
  });
  return masked.join('"');
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
