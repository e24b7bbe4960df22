import { createHash } from "node:crypto";
import type { Match } from "./types.ts";

/** Matches of a string, without its text. */
type Known = readonly Match[];

/** Length from which a string is worth its digest. */
export const MIN_KNOWN_CHARS = 1_024;

/** Maximum size of the memo, and of an entry and a match in it, as estimated. */
const MAX_BYTES = 16 * 1024 * 1024, ENTRY_BYTES = 160, MATCH_BYTES = 48;

/** Characters of a string whose digest is computed in one piece. */
const PIECE_CHARS = 128 * 1024;

/** Remembers what was found in long strings: an agent sends its history again with each turn. */
export interface Memo {
  get(key: string): Known | undefined;
  set(key: string, matches: Known): void;
}

/** Returns an empty memo, which drops what was not used for the longest time. */
export function newMemo(maxBytes = MAX_BYTES): Memo {
  const entries = new Map<string, Known>();
  let bytes = 0;
  const bytesOf = (matches: Known) => ENTRY_BYTES + MATCH_BYTES * matches.length;
  return {
    get(key) {
      const known = entries.get(key);
      if (known !== undefined) {
        entries.delete(key);
        entries.set(key, known);
      }
      return known;
    },
    set(key, matches) {
      if (entries.has(key)) return;
      entries.set(key, matches);
      bytes += bytesOf(matches);
      for (const [oldest, dropped] of entries) {
        if (bytes <= maxBytes) break;
        entries.delete(oldest);
        bytes -= bytesOf(dropped);
      }
    },
  };
}

/** Computes the key of a string under rules with this digest. Yields before each piece. */
export function* keyOf(digest: string, text: string): Generator<void, string, void> {
  const hash = createHash("sha256").update(digest);
  for (let at = 0; at < text.length; at += PIECE_CHARS) {
    yield;
    // In UTF-8 two strings with broken surrogates may have the same bytes.
    hash.update(text.slice(at, at + PIECE_CHARS), "utf16le");
  }
  return hash.digest("base64url");
}
