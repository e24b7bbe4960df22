import { Buffer } from "node:buffer";

/** Bytes of an image, a document or audio that count as text: those of 1,200 tokens. */
const MAX_MEDIUM_BYTES = 4_800;

/** Number of texts of such members that are checked for media. Further ones count as text. */
const MAX_TEXTS = 1_000;

/** Beginning of the texts in a member that may hold media, in the formats of all protocols. */
const MEMBER = /"(?:data|file_data|b64_json|url|image_url|images)"\s*:[\s[]*"/g;

/** A list has further texts. */
const NEXT = /[\s,]*"/y;

/** Beginning of the `data:` URL of a medium. */
const DATA_URL = /^data:[^,"]{1,200},/;

/** A character outside of base64 in JSON: escaped `+`, `/`, `=` and line ends are inside. */
const NO_BASE64 = /[^A-Za-z0-9+/=_\\-]|\\(?!\/|n|r|u00(?:2[bBfF]|3[dD]))/;

/**
 * Returns the bytes of a JSON text that count as text for an estimate of its tokens: all, and of
 * each medium in base64 at most `MAX_MEDIUM_BYTES`. The text is scanned, not parsed, in time that
 * is linear in its length.
 */
export function countedBytes(text: string): number {
  let bytes = Buffer.byteLength(text);
  if (text.length <= MAX_MEDIUM_BYTES) return bytes;
  let seen = 0;
  for (const { 0: { length }, index } of text.matchAll(MEMBER)) {
    for (let start = index + length; start > 0;) {
      const end = text.indexOf('"', start);
      if (end < 0 || seen === MAX_TEXTS) return bytes;
      seen += 1;
      if (end - start > MAX_MEDIUM_BYTES && isMedium(text.slice(start, end))) {
        bytes -= end - start - MAX_MEDIUM_BYTES;
      }
      NEXT.lastIndex = end + 1;
      start = NEXT.test(text) ? NEXT.lastIndex : 0;
    }
  }
  return bytes;
}

function isMedium(value: string): boolean {
  const [start = ""] = DATA_URL.exec(value) ?? [];
  return !NO_BASE64.test(value.slice(start.length));
}
