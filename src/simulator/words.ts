/** The words of a text, each with the white space before it; joined they are the text again. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/** A text in pieces of eight characters, cut anywhere but inside a character. */
export function fragmentsOf(text: string): readonly string[] {
  return text.match(/.{1,8}/gsu) ?? [];
}

/** A number from a text, the same for the same text: 32 bits of FNV-1a over the UTF-16 units. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
