const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Returns the text of a request header. The runtime returns one character for each byte, but
 * clients write UTF-8. A value whose bytes are not UTF-8 is returned unchanged.
 */
export function decodeHeaderText(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value;
  try {
    return strict.decode(Uint8Array.from(value, (byte) => byte.charCodeAt(0)));
  } catch {
    return value;
  }
}
