import fc from "fast-check";

/** The halves of surrogate pairs, which are no characters: the first one and their number. */
const HALVES = { first: 0xd800, count: 0x800 };

const LAST_CHARACTER_CODE = 0x10ffff;

/**
 * Any character of Unicode, as the `unit` of a text that is drawn. The unit "binary" of fast-check
 * draws the same, but fills a map of all 1.1 million of them in each process that names it: a
 * second, and memory that each collection looks through.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(LAST_CHARACTER_CODE - HALVES.count).map(
  (at) => String.fromCodePoint(at < HALVES.first ? at : at + HALVES.count),
  (character) => {
    const code = String(character).codePointAt(0) ?? -1;
    const isBehind = code >= HALVES.first + HALVES.count;
    if (String.fromCodePoint(code) !== character || (code >= HALVES.first && !isBehind)) {
      throw new Error("this is not one character");
    }
    return isBehind ? code - HALVES.count : code;
  },
);
