/** Letters of a token: `qz`, then eight syllables of a consonant and a vowel. */
export const CONSONANTS = "bdfgklmnprstvz", VOWELS = "aiou";

/** Number of syllables behind `qz`, and of the letters of a core. */
export const SYLLABLE_COUNT = 8, CORE_CHARS = 18;

/** Length of a label in letters. */
export const MIN_LABEL_CHARS = 2, MAX_LABEL_CHARS = 12;

/** Returns a new expression for a core in any letter case, with the flags `g` and `i`. */
export function newCorePattern(): RegExp {
  return new RegExp(`qz(?:[${CONSONANTS}][${VOWELS}]){${SYLLABLE_COUNT}}`, "gi");
}

/** Returns a new expression for a core with what may be its label, with the same flags. */
export function newTokenPattern(): RegExp {
  return new RegExp(`${newCorePattern().source}[a-z]{0,${MAX_LABEL_CHARS}}`, "gi");
}
