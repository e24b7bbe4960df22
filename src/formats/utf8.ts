const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/**
 * The text of UTF-8 bytes; null when they are not UTF-8. A byte order mark stays.
 * The strict decoder costs ten times as much, so it runs only when the quick one replaced something.
 */
export function utf8Text(bytes: Uint8Array): string | null {
  const text = decoder.decode(bytes);
  if (!text.includes("\uFFFD")) return text;
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

const encoder = new TextEncoder();

/** The UTF-8 bytes of a text. */
export function utf8Bytes(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** How many bytes a text has in UTF-8, when that is more than `limit`; else some number up to it. */
export function isLongerThan(text: string, limit: number): boolean {
  if (text.length > limit) return true;
  // A character is at most three bytes per UTF-16 unit.
  return text.length * 3 > limit && encoder.encode(text).length > limit;
}
