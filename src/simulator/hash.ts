/** Returns the 32-bit FNV-1a hash of a text's UTF-16 units. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/**
 * Returns the signature of a thinking block. It depends only on the text, so a client that changes
 * the thinking it sends back is refused.
 */
export function signThinking(thinking: string): string {
  return btoa(`sim.${hashText(thinking)}`);
}
