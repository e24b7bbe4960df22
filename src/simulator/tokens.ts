/** The words of a text, each with the white space before it; joined they are the text again. */
export function splitWords(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/** A text in pieces of eight characters, cut anywhere but inside a character. */
export function splitFragments(text: string): readonly string[] {
  return text.match(/.{1,8}/gsu) ?? [];
}
