import { nextBorder } from "../text_borders.ts";
import type { Finder } from "../types.ts";

const BEGIN = "-----BEGIN ", END = "-----END ";

/** The first line of a private key (RFC 7468), from its beginning on. */
const FIRST_LINE = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/y;

/** The rest of the last line behind its beginning. */
const LAST_LINE = /(?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/y;

/** The longest key; of one without an end this much counts. */
const MAX_CHARS = 16_384;

/** Returns the finder of private keys in PEM, with line ends or with `\n` in their place. */
export function newPrivateKeyFinder(label: string): Finder {
  return {
    label,
    maxChars: MAX_CHARS,
    find(text, from, to, found) {
      for (let at = text.indexOf(BEGIN, from); at >= 0 && at < to;) {
        const end = endOfKey(text, at);
        if (end > 0) found(at, end);
        at = text.indexOf(BEGIN, end > 0 ? end : at + 1);
      }
    },
    heldFrom(text) {
      const window = text.slice(-MAX_CHARS);
      const offset = text.length - window.length;
      const begun = window.lastIndexOf(BEGIN);
      if (begun >= 0 && endOfLastLine(window, begun) < 0) return offset + begun;
      let start = Math.max(0, window.length - BEGIN.length + 1);
      while (!BEGIN.startsWith(window.slice(start))) start++;
      return offset + start;
    },
  };
}

/** Returns where the key that begins at `start` ends; -1 if none does. */
function endOfKey(text: string, start: number): number {
  FIRST_LINE.lastIndex = start;
  if (!FIRST_LINE.test(text)) return -1;
  const end = endOfLastLine(text, start);
  if (end > 0) return end;
  const part = nextBorder(text, start);
  return Math.min(part < 0 ? text.length : part, start + MAX_CHARS);
}

function endOfLastLine(text: string, start: number): number {
  const limit = start + MAX_CHARS;
  const key = text.slice(start, limit);
  const last = key.indexOf(END);
  if (last < 0 || nextBorder(key.slice(0, last), 0) >= 0) return -1;
  LAST_LINE.lastIndex = last + END.length;
  return LAST_LINE.test(key) ? start + LAST_LINE.lastIndex : -1;
}
