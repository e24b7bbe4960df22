import type { Finder } from "../types.ts";
import { isDigit, isLetter, skipEscape, startOfRun } from "./characters.ts";

/** Limits of an address (RFC 5321, section 4.5.3.1; RFC 1035, section 2.3.4). */
const MAX_LOCAL_CHARS = 64, MAX_DOMAIN_CHARS = 253, MAX_LABEL_CHARS = 63;

const MAX_CHARS = 320;

const HYPHEN_CODE = 45, POINT_CODE = 46;

/** The sign between the parts of an address, also percent-encoded as in a URL. */
const SIGNS = ["@", "%40"] as const;

const LOCAL_SIGNS: ReadonlySet<number> = new Set(new TextEncoder().encode("._%+'-"));

/** Characters that an address does not begin with. */
const LEADING: ReadonlySet<number> = new Set(new TextEncoder().encode(".'-%"));

function isLocal(code: number): boolean {
  return isLetter(code) || isDigit(code) || LOCAL_SIGNS.has(code);
}

/**
 * Returns where the local part before `at` begins, at `earliest` or later; `at` if there is none.
 */
function startOfLocal(text: string, at: number, earliest: number): number {
  const least = Math.max(earliest, at - MAX_LOCAL_CHARS);
  let start = at;
  while (start > least && isLocal(text.charCodeAt(start - 1))) start--;
  start = skipEscape(text, start);
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

/** Returns where the domain that begins at `start` ends; -1 if none does. */
function endOfDomain(text: string, start: number): number {
  const limit = Math.min(text.length, start + MAX_DOMAIN_CHARS);
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

/** Returns the finder of e-mail addresses. It begins at the sign between their parts. */
export function newEmailFinder(label: string): Finder {
  return {
    label,
    maxChars: MAX_CHARS,
    find(text, from, to, found) {
      for (const sign of SIGNS) {
        // Where the address before ended, also one of an earlier piece: none begins in another one.
        let earliest = 0;
        for (
          let at = text.indexOf(sign, from - MAX_CHARS);
          at >= 0 && at < to;
          at = text.indexOf(sign, at + 1)
        ) {
          const end = endOfDomain(text, at + sign.length);
          if (end < 0) continue;
          const start = startOfLocal(text, at, earliest);
          if (start === at) continue;
          if (at >= from) found(start, end);
          earliest = end;
        }
      }
    },
    heldFrom: (text) => startOfRun(text, MAX_CHARS, (code) => isLocal(code) || code === 64),
  };
}
