import { decodeLatin1, isFieldLine } from "./head.ts";

const LF = 10, CR = 13;

/** Size limit of a chunk's size line with its extension. */
const MAX_LINE_BYTES = 16 * 1024;

/**
 * Limit of the bytes of all size lines beyond those that each chunk may have, which are more for
 * more data: extensions of many bytes with one of data each would keep the event loop.
 */
const MAX_EXCESS_BYTES = 16 * 1024, FREE_LINE_BYTES = 16, FREE_DATA_RATIO = 2;

/** Size limit of all trailers. */
const MAX_TRAILERS_BYTES = 64 * 1024;

/** Size limit of a chunk: larger than any body here, and exact as a number. */
const MAX_CHUNK_BYTES = 2 ** 48;

/**
 * The next part of the body: a size line, chunk data, the line end after it, the trailers, or
 * nothing.
 */
type Expected = "size" | "data" | "behind" | "trailers" | "over";

/**
 * Returns the framing of a chunked body (RFC 9112, 7.1). Extensions and trailers are ignored, also
 * malformed ones: the data is the same, but the framing is not exact.
 */
export function newChunkedFraming() {
  let place: Expected = "size";
  let left = 0;
  let excess = 0;
  let trailers = 0;
  let isExact = true;

  function size(bytes: Uint8Array, start: number, end: number): number {
    const digits = endOfDigits(bytes, start, end);
    if (digits < end && !isExactExtension(decodeLatin1(bytes.subarray(digits, end)))) {
      isExact = false;
    }
    return parseSize(bytes, start, digits);
  }

  function line(bytes: Uint8Array, start: number, end: number) {
    switch (place) {
      case "size":
        left = size(bytes, start, end);
        excess += end - start - FREE_LINE_BYTES - FREE_DATA_RATIO * left;
        if (excess > MAX_EXCESS_BYTES) {
          throw new Error("the chunks of the response have too much that is no data");
        }
        excess = Math.max(excess, 0);
        place = left === 0 ? "trailers" : "data";
        break;
      case "behind":
        if (end !== start) throw new Error("a chunk of the response is longer than it says");
        place = "size";
        break;
      case "trailers":
        trailers += end - start + 2;
        if (trailers > MAX_TRAILERS_BYTES) {
          throw new Error("the trailers of the response have no end");
        }
        if (end === start) place = "over";
        else isExact &&= isTrailer(decodeLatin1(bytes.subarray(start, end)));
        break;
      case "data":
      case "over":
        break;
    }
  }

  /** Returns the index after the line that begins at `start`; -1 if it has no end yet. */
  function takeLine(bytes: Uint8Array, start: number): number {
    const end = bytes.indexOf(LF, start);
    if ((end < 0 ? bytes.length : end) - start > MAX_LINE_BYTES) {
      throw new Error("a line of the response has no end");
    }
    if (end < 0) return -1;
    if (end === start || bytes[end - 1] !== CR) {
      throw new Error("a line of the response has a malformed end");
    }
    line(bytes, start, end - 1);
    return end + 1;
  }

  return {
    /** Moves the bytes of the body to the front of `bytes`. */
    take(bytes: Uint8Array): Consumed {
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
        // Nearly every chunk has arrived with its line end: no search is needed for it.
        if (place === "behind" && bytes[used] === CR && bytes[used + 1] === LF) {
          used += 2;
          place = "size";
        }
        let next: number;
        try {
          next = takeLine(bytes, used);
        } catch (error) {
          // The data before it has arrived whole: the next call refuses the line.
          if (length > 0) break;
          throw error;
        }
        if (next < 0) break;
        used = next;
      }
      return { length, used };
    },
    /** True after the end of the body. */
    isOver: (): boolean => place === "over",
    /** False after framing that other parsers refuse: the connection is not reused. */
    isExact: (): boolean => isExact,
    /** True if the body ends with the connection. */
    endsWithConnection: false,
  };
}

/** False if other parsers refuse the trailer, or take it for a framing field (RFC 9110, 6.5.1). */
function isTrailer(line: string): boolean {
  return isFieldLine(line) &&
    !/^(?:content-length|transfer-encoding|(?:proxy-)?connection|upgrade):/i.test(line);
}

/** Returns the index after the digits that begin a size line. */
function endOfDigits(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && parseDigit(bytes[at] ?? 0) >= 0) at++;
  return at;
}

/** Returns the value of hexadecimal digits; throws if there are none or the chunk is too large. */
function parseSize(bytes: Uint8Array, start: number, end: number): number {
  if (start === end) throw new Error("a chunk of the response has no size");
  let size = 0;
  for (let at = start; at < end; at++) {
    size = size * 16 + parseDigit(bytes[at] ?? 0);
    if (size > MAX_CHUNK_BYTES) throw new Error("a chunk of the response is too large");
  }
  return size;
}

function parseDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const small = code | 0x20;
  return small >= 0x61 && small <= 0x66 ? small - 0x61 + 10 : -1;
}

// Text after a chunk size: the accepted form, and the form of the standard (RFC 9112, 7.1.1).
const EXTENSION = /^[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/;
const EXACT_EXTENSION =
  /^(?:;[\w!#$%&'*+.^`|~-]+(?:=(?:[\w!#$%&'*+.^`|~-]+|"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*$/;

/** False if other parsers refuse the text after a chunk size; throws if this parser does. */
function isExactExtension(text: string): boolean {
  if (!EXTENSION.test(text)) throw new Error("a chunk of the response has no size");
  return EXACT_EXTENSION.test(text);
}

/**
 * Framing of a response body: extracts the body from the received bytes. Throws if the framing is
 * malformed.
 */
export type BodyFraming = ReturnType<typeof newChunkedFraming>;

/** The result of parsing received bytes. */
interface Consumed {
  /** Number of body bytes, at the front of the buffer. */
  readonly length: number;
  /** Number of consumed bytes; the rest is passed again together with later bytes. */
  readonly used: number;
}
