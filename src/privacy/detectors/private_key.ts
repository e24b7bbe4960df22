import { nextBorder } from "../text_borders.ts";
import type { Finder } from "../types.ts";
import { CLOSING_QUOTE, startOfBackslashes } from "./characters.ts";

const BEGIN = "-----BEGIN ", END = "-----END ";

/** The first line of a private key (RFC 7468), from its beginning on. */
const FIRST_LINE = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/y;

/** The rest of the last line behind its beginning. */
const LAST_LINE = /(?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/y;

/** The longest key; of one without an end this much counts, or the rest of a quoted text. */
const MAX_CHARS = 16_384;

/** The end of a quoted text in JSON, HTML or code. */
const STRING_END = new RegExp(CLOSING_QUOTE);

/** The end of a name or a value of JSON. A key may be a list of its lines, but not two members. */
const MEMBER_END = /"\s{0,64}[:}\]]/g;

/** Returns the finder of private keys in PEM, with line ends or with `\n` in their place. */
export function newPrivateKeyFinder(label: string): Finder {
  return {
    label,
    maxChars: MAX_CHARS,
    find(text, from, to, found) {
      const places = placesIn(text);
      for (let at = text.indexOf(BEGIN, from); at >= 0 && at < to;) {
        const end = endOfKey(text, at, places);
        if (end > 0) found(at, end);
        at = text.indexOf(BEGIN, end > 0 ? end : at + 1);
      }
    },
    heldFrom(text) {
      const window = text.slice(-MAX_CHARS);
      const offset = text.length - window.length;
      const begun = window.lastIndexOf(BEGIN);
      if (begun >= 0 && endOfLastLine(window, begun, placesIn(window)) < 0) return offset + begun;
      let start = Math.max(0, window.length - BEGIN.length + 1);
      while (!BEGIN.startsWith(window.slice(start))) start++;
      return offset + start;
    },
  };
}

/** Each returns the next place at `from` or later, which grows from call to call; -1 if none is. */
interface Places {
  lastLine(from: number): number;
  border(from: number): number;
  member(from: number): number;
}

function placesIn(text: string): Places {
  return {
    lastLine: nextOf((from) => text.indexOf(END, from)),
    border: nextOf((from) => nextBorder(text, from)),
    member: nextOf((from) => {
      MEMBER_END.lastIndex = from;
      return MEMBER_END.exec(text)?.index ?? -1;
    }),
  };
}

/** Looks again only behind the place before: a text may have many beginnings. */
function nextOf(find: (from: number) => number): (from: number) => number {
  let known: number | null = null;
  return (from) => {
    if (known === null || known >= 0 && known < from) known = find(from);
    return known;
  };
}

/** Returns where the key that begins at `start` ends; -1 if none does. */
function endOfKey(text: string, start: number, places: Places): number {
  FIRST_LINE.lastIndex = start;
  if (!FIRST_LINE.test(text)) return -1;
  const end = endOfLastLine(text, start, places);
  if (end > 0) return end;
  const border = places.border(start);
  const limit = Math.min(border < 0 ? text.length : border, start + MAX_CHARS);
  const quote = text.slice(start, limit).search(STRING_END);
  // Of a quote that is escaped all stays.
  return quote < 0 ? limit : startOfBackslashes(text, start + quote);
}

function endOfLastLine(text: string, start: number, places: Places): number {
  const last = places.lastLine(start);
  if (last < 0) return -1;
  LAST_LINE.lastIndex = last + END.length;
  if (!LAST_LINE.test(text) || LAST_LINE.lastIndex > start + MAX_CHARS) return -1;
  const end = LAST_LINE.lastIndex;
  const isWhole = [places.border(start), places.member(start)].every((at) => at < 0 || at > last);
  return isWhole ? end : -1;
}
