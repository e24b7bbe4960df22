import { Buffer, isAscii, isUtf8 } from "node:buffer";
import { isFirstHalf } from "../core/surrogates.ts";

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

/** Characters of a text that are encoded in one piece. */
const PIECE_CHARS = 256 * 1024;

/** Bytes that are decoded in one piece. */
const PIECE_BYTES = 256 * 1024;

/** Decodes UTF-8 bytes as `utf8Text` does. Can be interrupted. */
export function* utf8TextSteps(
  bytes: Uint8Array,
  fatal = false,
): Generator<void, string | null, void> {
  if (bytes.length <= PIECE_BYTES) return utf8Text(bytes);
  const pieces: string[] = [];
  const rest = new TextDecoder("utf-8", { ignoreBOM: true, fatal });
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const stream = at + PIECE_BYTES < bytes.length;
      const piece = rest.decode(bytes.subarray(at, at + PIECE_BYTES), { stream });
      if (!fatal && piece.includes("\uFFFD")) return yield* utf8TextSteps(bytes, true);
      pieces.push(piece);
      yield;
    }
  } catch {
    return null;
  }
  return pieces.join("");
}

/** Encodes a text as `utf8Bytes` does. Can be interrupted. */
export function* utf8Steps(text: string): Generator<void, Uint8Array<ArrayBuffer>, void> {
  if (text.length <= PIECE_CHARS) return utf8Bytes(text);
  const bytes = new Uint8Array(utf8Length(text));
  for (let at = 0, written = 0; at < text.length;) {
    const piece = text.slice(at, at + PIECE_CHARS);
    const { read, written: size } = encoder.encodeInto(piece, bytes.subarray(written));
    // The second half of a pair comes with its first half.
    const isCut = isFirstHalf(piece.charCodeAt(piece.length - 1)) && at + read < text.length;
    at += isCut ? read - 1 : read;
    written += isCut ? size - 3 : size;
    yield;
  }
  return bytes;
}

/** The lone surrogates that replace bytes that are no UTF-8 (as in PEP 383). */
const ODD_BYTE_CODE = 0xdc00, ODD_BYTE = /([\udc80-\udcff])/u;

/** Bytes and characters of a text with odd bytes that are read in one piece. */
const ODD_PIECE_CHARS = 16 * 1024;

/**
 * Decodes bytes of which some are no UTF-8: a lone surrogate replaces each of these, so that
 * `oddBytesSteps` returns it. Can be interrupted.
 */
export function* oddTextSteps(bytes: Uint8Array): Generator<void, string, void> {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; yield) {
    let piece = "";
    for (const end = Math.min(bytes.length, at + ODD_PIECE_CHARS); at < end;) {
      const lead = bytes[at] ?? 0;
      const size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      const character = size === 1 ? null : bytes.subarray(at, at + size);
      const isOdd = character !== null && !isUtf8(character);
      piece += character === null || isOdd
        ? String.fromCharCode(isOdd ? ODD_BYTE_CODE + lead : lead)
        : decoder.decode(character);
      at += isOdd ? 1 : size;
    }
    pieces.push(piece);
  }
  return pieces.join("");
}

/** Encodes a text that `oddTextSteps` has decoded. Can be interrupted. */
export function* oddBytesSteps(text: string): Generator<void, Uint8Array<ArrayBuffer>, void> {
  const bytes = new Uint8Array(utf8Length(text));
  let written = 0;
  for (let at = 0; at < text.length; yield) {
    let end = at + ODD_PIECE_CHARS;
    // No pair is cut.
    if (isFirstHalf(text.charCodeAt(end - 1))) end++;
    for (const part of text.slice(at, end).split(ODD_BYTE)) {
      if (ODD_BYTE.test(part)) bytes[written++] = part.charCodeAt(0) - ODD_BYTE_CODE;
      else written += encoder.encodeInto(part, bytes.subarray(written)).written;
    }
    at = end;
  }
  return bytes.subarray(0, written);
}

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
