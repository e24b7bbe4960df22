import { Buffer } from "node:buffer";

const HYPHEN_CODE = 45, UNDERSCORE_CODE = 95, PLUS_CODE = 43, SLASH_CODE = 47, SPACE_CODE = 32;

/** Returns base64 of either alphabet as standard base64 with padding; null if it is none. */
export function standardBase64(text: string): string | null {
  // The pattern searches for one foreign character: a pattern that matches the whole text would
  // need a stack as long as the data.
  if (/[^A-Za-z0-9+/=_\-\t\n\v\f\r ]/.test(text)) return null;
  const data = /[_\-\t\n\v\f\r ]/.test(text) ? inStandardAlphabet(text) : text;
  const digits = data.slice(0, data.endsWith("==") ? -2 : data.endsWith("=") ? -1 : undefined);
  if (digits === "" || digits.length % 4 === 1 || digits.includes("=")) return null;
  return digits + "=".repeat((4 - digits.length % 4) % 4);
}

/**
 * Returns ASCII text in the standard alphabet without white space. By bytes: a replacement keeps
 * 32 bytes for each of millions of characters.
 */
function inStandardAlphabet(text: string): string {
  const bytes = Buffer.from(text, "latin1");
  let length = 0;
  for (const code of bytes) {
    if (code > SPACE_CODE) {
      bytes[length++] = code === HYPHEN_CODE
        ? PLUS_CODE
        : code === UNDERSCORE_CODE
        ? SLASH_CODE
        : code;
    }
  }
  return bytes.toString("latin1", 0, length);
}
