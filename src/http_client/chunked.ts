import type { BodyFraming } from "./body_framing.ts";
import { decodeLatin1, isFieldLine } from "./head.ts";

const LF = 10, CR = 13;

/** A chunk's line, with its extension, may have this many bytes. */
const MAX_LINE_BYTES = 16 * 1024;

/** All lines behind the last chunk may have this many bytes. */
const MAX_TRAILERS_BYTES = 64 * 1024;

/** More than any body here; the numbers up to it are exact. */
const MAX_CHUNK_BYTES = 2 ** 48;

/** What stands at the next byte: the line of a chunk's size, its data, the line end behind, the trailers. */
type Expected = "size" | "data" | "behind" | "trailers" | "over";

/**
 * A body in chunks (RFC 9112, 7.1). Extensions and trailers are passed over, malformed ones too: the
 * data is the same, but the framing is not exact.
 */
export function newChunkedFraming(): BodyFraming {
  let place: Expected = "size";
  let left = 0;
  let trailers = 0;
  let isExact = true;

  function size(bytes: Uint8Array, start: number, end: number): number {
    const digits = endOfDigits(bytes, start, end);
    if (digits < end && !isExactExtension(decodeLatin1(bytes.subarray(digits, end)))) {
      isExact = false;
    }
    return parseSize(bytes.subarray(start, digits));
  }

  function line(bytes: Uint8Array, start: number, end: number) {
    switch (place) {
      case "size":
        left = size(bytes, start, end);
        place = left === 0 ? "trailers" : "data";
        break;
      case "behind":
        if (end !== start) throw new Error("a chunk of the answer is longer than it says");
        place = "size";
        break;
      case "trailers":
        trailers += end - start + 2;
        if (trailers > MAX_TRAILERS_BYTES) throw new Error("the answer's trailers have no end");
        if (end === start) place = "over";
        else isExact &&= isTrailer(decodeLatin1(bytes.subarray(start, end)));
        break;
      case "data":
      case "over":
        break;
    }
  }

  return {
    take(bytes) {
      let length = 0;
      let used = 0;
      while (place !== "over") {
        if (place === "data") {
          const count = Math.min(left, bytes.length - used);
          bytes.copyWithin(length, used, used + count);
          length += count;
          used += count;
          left -= count;
          if (left > 0) break;
          place = "behind";
        }
        const end = bytes.indexOf(LF, used);
        if ((end < 0 ? bytes.length : end) - used > MAX_LINE_BYTES) {
          throw new Error("an answer's line has no end");
        }
        if (end < 0) break;
        if (end === used || bytes[end - 1] !== CR) {
          throw new Error("a line of the answer has a malformed end");
        }
        line(bytes, used, end - 1);
        used = end + 1;
      }
      return { length, used };
    },
    isOver: () => place === "over",
    isExact: () => isExact,
    endsWithConnection: false,
  };
}

/** False where other parsers refuse a trailer, or take it for a field that frames (RFC 9110, 6.5.1). */
function isTrailer(line: string): boolean {
  return isFieldLine(line) &&
    !/^(?:content-length|transfer-encoding|(?:proxy-)?connection|upgrade):/i.test(line);
}

/** Returns the place behind the digits that a chunk's line begins with. */
function endOfDigits(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && parseDigit(bytes[at] ?? 0) >= 0) at++;
  return at;
}

/** Returns the hexadecimal number of these digits. */
function parseSize(digits: Uint8Array): number {
  if (digits.length === 0) throw new Error("a chunk of the answer has no size");
  let size = 0;
  for (const digit of digits) {
    size = size * 16 + parseDigit(digit);
    if (size > MAX_CHUNK_BYTES) throw new Error("a chunk of the answer is too large");
  }
  return size;
}

function parseDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const small = code | 0x20;
  return small >= 0x61 && small <= 0x66 ? small - 0x61 + 10 : -1;
}

// The text behind a size: what is read, and what the standard has (RFC 9112, 7.1.1).
const EXTENSION = /^[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/;
const EXACT_EXTENSION =
  /^(?:;[\w!#$%&'*+.^`|~-]+(?:=(?:[\w!#$%&'*+.^`|~-]+|"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*$/;

/** False where other parsers refuse the text behind a size; throws where this one does. */
function isExactExtension(text: string): boolean {
  if (!EXTENSION.test(text)) throw new Error("a chunk of the answer has no size");
  return EXACT_EXTENSION.test(text);
}
