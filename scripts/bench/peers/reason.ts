import { stripVTControlCharacters } from "node:util";

const MAX_REASON_CHARACTERS = 300;

/**
 * Returns what a peer said as one line of a table: without colours and control characters, and cut.
 */
export function reasonText(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\s\p{Cc}]+/gu, " ").trim()
    .slice(0, MAX_REASON_CHARACTERS);
}
