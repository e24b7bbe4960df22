import type { BodyFraming } from "./framing.ts";

const LF = 10, CR = 13;

/** A chunk's line, with its extension, may have this many bytes. */
const MOST_LINE = 16 * 1024;

/** All lines behind the last chunk may have this many bytes. */
const MOST_TRAILERS = 64 * 1024;

/** More than any body here; the numbers up to it are exact. */
const MOST_SIZE = 2 ** 48;

/** What stands at the next byte: the line of a chunk's size, its data, the line end behind, the trailers. */
type Place = "size" | "data" | "behind" | "trailers" | "over";

/** A body in chunks (RFC 9112, 7.1). Extensions and trailers are passed over. */
export function chunkedFraming(): BodyFraming {
  let place: Place = "size";
  let left = 0;
  let trailers = 0;

  function line(bytes: Uint8Array, start: number, end: number) {
    switch (place) {
      case "size":
        left = sizeOf(bytes, start, end);
        place = left === 0 ? "trailers" : "data";
        break;
      case "behind":
        if (end !== start) throw new Error("a chunk of the answer is longer than it says");
        place = "size";
        break;
      case "trailers":
        trailers += end - start + 2;
        if (trailers > MOST_TRAILERS) throw new Error("the answer's trailers have no end");
        if (end === start) place = "over";
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
        if ((end < 0 ? bytes.length : end) - used > MOST_LINE) {
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
    endsWithConnection: false,
  };
}

/** The hexadecimal number that a chunk begins with; an extension may follow. */
function sizeOf(bytes: Uint8Array, start: number, end: number): number {
  let size = 0;
  let at = start;
  for (; at < end; at++) {
    const digit = digitOf(bytes[at] ?? 0);
    if (digit < 0) break;
    size = size * 16 + digit;
    if (size > MOST_SIZE) throw new Error("a chunk of the answer is too large");
  }
  if (at === start || !isExtension(bytes, at, end)) {
    throw new Error("a chunk of the answer has no size");
  }
  return size;
}

function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const small = code | 0x20;
  return small >= 0x61 && small <= 0x66 ? small - 0x61 + 10 : -1;
}

/** Nothing but blanks, or a semicolon and text. */
function isExtension(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && (bytes[at] === 0x20 || bytes[at] === 0x09)) at++;
  if (at < end && bytes[at] !== 0x3b) return false;
  return bytes.subarray(at, end).every((code) => code === 0x09 || (code >= 0x20 && code !== 0x7f));
}
