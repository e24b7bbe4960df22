import { Buffer, isAscii } from "node:buffer";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** Length from which a text of ASCII is decoded in half the time by a function that copies it. */
const MIN_LONG_BYTES = 64 * 1024;

/**
 * Decodes UTF-8 bytes; null if they are not valid UTF-8. A byte order mark is preserved. The strict
 * decoder costs ten times as much, so it runs only if the tolerant decoder replaced a character.
 */
export function utf8Text(bytes: Uint8Array): string | null {
  if (bytes.length >= MIN_LONG_BYTES && isAscii(bytes)) {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  }
  const text = decoder.decode(bytes);
  if (!text.includes("\uFFFD")) return text;
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

const encoder = new TextEncoder();

/** Encodes a text as UTF-8 bytes. */
export function utf8Bytes(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Returns the number of bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/** True if the text has more than `limit` bytes in UTF-8. */
export function isLongerThan(text: string, limit: number): boolean {
  if (text.length > limit) return true;
  // A character is at most three bytes per UTF-16 unit.
  return text.length * 3 > limit && utf8Length(text) > limit;
}
