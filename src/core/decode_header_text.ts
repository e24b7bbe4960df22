const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * What a header of a request says. The runtime gives one character for each byte, where clients
 * write UTF-8; bytes that are not UTF-8 stay as they are.
 */
export function decodeHeaderText(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value;
  try {
    return strict.decode(Uint8Array.from(value, (byte) => byte.charCodeAt(0)));
  } catch {
    return value;
  }
}
