import { KEY_PREFIX } from "./keys.ts";

/** Length of the shortest key, which is one of Slack. */
const MIN_KEY_CHARS = 15;

/** Escapes of JSON in a text that can hide a part of a key. */
const HIDING = ["\\u00", "\\/"] as const;

/**
 * An address with a password in a text with the escapes of JSON, in which a character may take
 * more room.
 */
const ADDRESS = /:\/\/[^\s:@/]{0,400}:[^\s@/]{1,800}@/;

/** 1 for each ASCII character that keys have. A table is faster than comparisons. */
const KEY_CODES = Uint8Array.from(
  { length: 128 },
  (_, code) => /[A-Za-z0-9_.=+/-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/**
 * True if a text may have a private key or what the detectors of keys find, also one that is
 * escaped as in JSON; false only if it has none. It reads a part of the characters, and is many
 * times faster than the detectors.
 */
export function mayHaveKey(text: string): boolean {
  return HIDING.some((one) => text.includes(one)) || text.includes("-----BEGIN ") ||
    (text.includes("://") && ADDRESS.test(text)) || hasKeyRun(text);
}

/** True if one of the runs of key characters that are long enough has a prefix of keys. */
function hasKeyRun(text: string): boolean {
  for (let start = 0; start + MIN_KEY_CHARS <= text.length;) {
    // From the end, so that a space skips all that is before it.
    let at = start + MIN_KEY_CHARS - 1;
    while (at >= start && isKeyCode(text.charCodeAt(at))) at--;
    if (at >= start) {
      start = at + 1;
      continue;
    }
    let end = start + MIN_KEY_CHARS;
    while (end < text.length && isKeyCode(text.charCodeAt(end))) end++;
    if (KEY_PREFIX.test(text.slice(start, end))) return true;
    start = end + 1;
  }
  return false;
}

function isKeyCode(code: number): boolean {
  return KEY_CODES[code] === 1;
}
