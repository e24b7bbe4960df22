import type { Span } from "../../formats/edit.ts";
import { CORE_CHARS, newTokenPattern } from "../token_form.ts";
import type { Finder } from "../types.ts";
import {
  BACKSLASH_CODE,
  isDigit,
  isEscaped,
  isLetter,
  skipEscape,
  startOfRun,
} from "./characters.ts";

/** Limits of an address (RFC 5321, section 4.5.3.1; RFC 1035, section 2.3.4). */
const MAX_LOCAL_CHARS = 64, MAX_DOMAIN_CHARS = 253, MAX_LABEL_CHARS = 63;

const MAX_CHARS = 320;

const NON_ASCII_CODE = 128,
  BLANK_CODE = 32,
  QUOTE_CODE = 34,
  HYPHEN_CODE = 45,
  POINT_CODE = 46;

/** The sign between the parts of an address, also percent-encoded as in a URL. */
const SIGNS = ["@", "%40"] as const;

const LOCAL_SIGNS: ReadonlySet<number> = new Set(new TextEncoder().encode("._%+'-"));

/** Characters that an address does not begin with. */
const LEADING: ReadonlySet<number> = new Set(new TextEncoder().encode(".'-%+"));

function isLocal(code: number): boolean {
  return isLetter(code) || isDigit(code) || LOCAL_SIGNS.has(code);
}

/** Returns the words in the form of a token between two places: they are no part of an address. */
function tokensIn(text: string, start: number, end: number): readonly Span[] {
  if (end - start < CORE_CHARS) return [];
  const part = text.slice(start, end);
  if (!/qz/i.test(part)) return [];
  return part.matchAll(newTokenPattern()).map(({ index, 0: { length } }) => ({
    start: start + index,
    end: start + index + length,
  })).toArray();
}

/** Characters before an address in which a path is looked for. */
const MAX_PATH_CHARS = 64;

/** A drive, or a name behind a backslash with whose letter no escape begins. */
const IN_PATH = /(?<![A-Za-z0-9])[A-Za-z]:\\|\\[A-Zac-eg-mo-qsvwyz_]\w/;

/**
 * The same in a path with single backslashes. A drive is followed by a folder: `A:\n` is more often
 * an answer with a line end.
 */
const IN_PLAIN_PATH = /(?<![A-Za-z0-9])[A-Za-z]:\\[^\\]|(?<!\\)\\[A-Zac-eg-mo-qsvwyz_]\w/;

/**
 * Returns where an address begins that seems to begin at `start`: behind an escape, but not behind
 * the first letter of a name in a path, such as `C:\Users\tom@example.com`.
 */
function behindEscape(text: string, start: number, earliest: number): number {
  const behind = skipEscape(text, start);
  // No text has the escapes of a backspace and of a form feed.
  if (behind === start || "bf".includes(text.charAt(start))) return start;
  if (text.charCodeAt(start - 1) !== BACKSLASH_CODE) return behind;
  const before = text.slice(Math.max(earliest, start - MAX_PATH_CHARS), start);
  const path = startOfRun(
    before,
    MAX_PATH_CHARS,
    (code) => code > BLANK_CODE && code !== QUOTE_CODE,
  );
  const form = isEscaped(text, start) ? IN_PLAIN_PATH : IN_PATH;
  return form.test(before.slice(path)) ? start : behind;
}

/** Returns where an address in a URL begins: behind an encoded sign that no address has. */
function behindEncoded(text: string, start: number, at: number): number {
  const local = text.slice(start, at);
  const last = local.includes("%")
    ? local.matchAll(/%([0-9A-Fa-f]{2})/g).toArray().findLast(({ 1: hex = "" }) => {
      const code = parseInt(hex, 16);
      return code < NON_ASCII_CODE && !isLocal(code);
    })
    : undefined;
  return last === undefined ? start : start + last.index + last[0].length;
}

/**
 * Returns where the local part before `at` begins, at `earliest` or later; `at` if there is none.
 */
function startOfLocal(text: string, at: number, earliest: number): number {
  const least = Math.max(earliest, at - MAX_LOCAL_CHARS);
  let start = at;
  while (start > least && isLocal(text.charCodeAt(start - 1))) start--;
  start = behindEncoded(text, behindEscape(text, start, earliest), at);
  // An address may follow a token, as in a list: `TOKEN%2Ceve@example.com`.
  const token = tokensIn(text, start, at).at(-1);
  if (token !== undefined) start = token.end;
  while (start < at && LEADING.has(text.charCodeAt(start))) start++;
  return Math.min(start, at);
}

/**
 * Returns where the last label of a domain ends: it is of letters, or encoded as RFC 5890 says.
 * Other text may follow its letters at once, as in `example.com-2026`; -1 if there is none.
 */
function endOfLastLabel(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isLetter(text.charCodeAt(at))) at++;
  if (at < end && text.startsWith("xn--", start)) return end;
  return at - start >= 2 ? at : -1;
}

/** Returns where the domain that begins at `start` ends, before a token; -1 if none does. */
function endOfDomain(text: string, start: number): number {
  const end = endOfNames(text, start, Math.min(text.length, start + MAX_DOMAIN_CHARS));
  const [token] = tokensIn(text, start, end);
  return token === undefined ? end : endOfNames(text, start, token.start);
}

/** Returns where the names with dots between them end that begin at `start`; -1 if none do. */
function endOfNames(text: string, start: number, limit: number): number {
  let end = -1;
  let label = start;
  for (let at = start; at <= limit; at++) {
    const code = text.charCodeAt(at);
    const isPart = isLetter(code) || isDigit(code) || code === HYPHEN_CODE;
    // Other text may follow an address at once, so a label may seem too long.
    if (isPart && at < limit && at - label < MAX_LABEL_CHARS) continue;
    if (at === label) break;
    let last = at;
    while (last > label && text.charCodeAt(last - 1) === HYPHEN_CODE) last--;
    if (label > start) end = Math.max(end, endOfLastLabel(text, label, last));
    if (code !== POINT_CODE) break;
    label = at + 1;
  }
  return end;
}

/** Returns the signs of either form between two places, in their order. */
function* signsIn(text: string, from: number, to: number) {
  const places = SIGNS.map((sign) => ({ sign, at: text.indexOf(sign, from) }));
  for (;;) {
    let next: typeof places[number] | null = null;
    for (const place of places) {
      if (place.at >= 0 && place.at < to && (next === null || place.at < next.at)) next = place;
    }
    if (next === null) return;
    yield next;
    next.at = text.indexOf(next.sign, next.at + 1);
  }
}

/** Returns the finder of e-mail addresses. It begins at the sign between their parts. */
export function newEmailFinder(label: string): Finder {
  return {
    label,
    maxChars: MAX_CHARS,
    find(text, from, to, found) {
      // Where the address before ended, also one of an earlier piece: none begins in another one.
      let earliest = 0;
      for (const { at, sign } of signsIn(text, from - MAX_CHARS, to)) {
        const end = endOfDomain(text, at + sign.length);
        if (end < 0) continue;
        const start = startOfLocal(text, at, earliest);
        if (start === at) continue;
        if (at >= from) found(start, end);
        earliest = end;
      }
    },
    heldFrom: (text) => startOfRun(text, MAX_CHARS, (code) => isLocal(code) || code === 64),
  };
}
