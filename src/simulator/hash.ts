/** A number from a text, the same for the same text: 32 bits of FNV-1a over the UTF-16 units. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/**
 * What the messages protocol signs its thinking with: the same text gives the same signature, so that
 * thinking that comes back changed is noticed.
 */
export function signThinking(thinking: string): string {
  return btoa(`sim.${hashText(thinking)}`);
}
