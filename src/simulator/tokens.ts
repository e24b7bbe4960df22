/** Splits a text into words, each with the white space before it. Joined, they are the text. */
export function splitWords(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/** Splits a text into fragments of eight characters; surrogate pairs stay whole. */
export function splitFragments(text: string): readonly string[] {
  return text.match(/.{1,8}/gsu) ?? [];
}

/** Returns how many words texts have: their input tokens. */
export function countWords(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + splitWords(text).length, 0);
}
