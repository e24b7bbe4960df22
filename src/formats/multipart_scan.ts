import { refuseForm } from "./multipart_head.ts";
import type { Refusal } from "../core/failure/failure.ts";
import type { Failed } from "../core/failure/result.ts";

const LF = 10, CR = 13, SPACE = 32, TAB_CODE = 9, HYPHEN_CODE = 45;

/** Largest head of a part in bytes: some parsers drop or refuse a part whose head is larger. */
const MAX_HEAD_BYTES = 1000;

/** Maximum number of parts: a form of the API has fewer than a hundred. */
const MAX_PARTS = 1024;

/** Where a part is in the body, in bytes from its beginning. */
export interface PartPlace {
  /** The header lines of the part. */
  readonly head: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/**
 * Expected next: the first boundary, a line behind a boundary, the head of a part, its content, or
 * nothing but white space behind the last boundary.
 */
type Phase = "first" | "line" | "head" | "content" | "epilogue";

/** Bytes that may follow a boundary: a line end, or two hyphens behind the last one. */
const LINES = ["\r\n", "--\r\n"] as const;

/**
 * Returns a scanner that finds the parts of a multipart body in pieces of any size, reading each
 * byte once (RFC 2046, section 5.1.1). Stricter than the standard: nothing but a line end comes
 * before the first boundary, and nothing but white space behind the last one; lines end in CRLF;
 * and two hyphens with the boundary are nowhere else, because some parsers find them anywhere.
 * `onPart` is called with each part and may refuse it.
 */
export function newPartScanner(
  boundary: string,
  onPart: (place: PartPlace) => Failed | null,
) {
  const delimiter = new TextEncoder().encode(`--${boundary}`);
  const findDelimiter = newFinder(delimiter);
  // The bytes before a delimiter may be in an earlier piece.
  const tail = new Uint8Array(delimiter.length + 2);
  let phase: Phase = "first";
  let offset = 0;
  let preface = 0;
  let line = "";
  let head: number[] = [];
  let start = 0;
  let partHead = new Uint8Array();
  let count = 0;

  function first(byte: number): Failed | null {
    if (byte === (offset === 0 ? CR : LF) && offset === preface && preface < 2) {
      preface += 1;
      return null;
    }
    const matched = offset - preface;
    if (preface === 1 || byte !== delimiter[matched]) return notFirst();
    if (matched === delimiter.length - 1) phase = "line";
    return null;
  }

  /** Reads a byte of content; `byteAt` returns the byte at a place from this one back. */
  function content(byte: number, byteAt: (back: number) => number): Failed | null {
    if (!findDelimiter.push(byte)) return null;
    const { length } = delimiter;
    // The CR, the LF and the boundary end with this byte.
    const end = offset + 1 - length - 2;
    if (end < start || byteAt(length) !== LF || byteAt(length + 1) !== CR) return badLine();
    phase = "line";
    line = "";
    return onPart({ head: partHead, start, end });
  }

  function afterBoundary(byte: number): Failed | null {
    line += String.fromCharCode(byte);
    if (!LINES.some((one) => one.startsWith(line))) return badLine();
    if (line === LINES[1]) phase = "epilogue";
    if (line !== LINES[0]) return null;
    phase = "head";
    head = [];
    count += 1;
    return count > MAX_PARTS ? refuseForm(`The request has more than ${MAX_PARTS} parts.`) : null;
  }

  function inHead(byte: number): Failed | null {
    head.push(byte);
    if (head.length > MAX_HEAD_BYTES) {
      return refuseForm(`The headers of part ${count} are larger than ${MAX_HEAD_BYTES} bytes.`);
    }
    if (findDelimiter.push(byte)) return badLine();
    if (byte !== LF) return null;
    if (head.at(-2) !== CR) return badLine();
    const isBlank = head.length === 2 || (head.at(-3) === LF && head.at(-4) === CR);
    if (!isBlank) return null;
    partHead = new Uint8Array(head.slice(0, -2));
    phase = "content";
    start = offset + 1;
    return null;
  }

  function inEpilogue(byte: number): Failed | null {
    return byte === CR || byte === LF || byte === SPACE || byte === TAB_CODE
      ? null
      : refuseForm("The request has text behind its last boundary.");
  }

  function step(byte: number, byteAt: (back: number) => number): Failed | null {
    switch (phase) {
      case "first":
        return first(byte);
      case "content":
        return content(byte, byteAt);
      case "line":
        return afterBoundary(byte);
      case "head":
        return inHead(byte);
      case "epilogue":
        return inEpilogue(byte);
    }
  }

  return {
    /** Returns the refusal of the body; null if it continues. */
    push(piece: Uint8Array): Failed | null {
      let at = 0;
      const byteAt = (back: number) => piece[at - back] ?? tail.at(at - back) ?? 0;
      for (; at < piece.length; at++) {
        // Most bytes are content that begins no boundary.
        if (phase === "content" && !findDelimiter.isWithin()) {
          const next = piece.indexOf(HYPHEN_CODE, at);
          offset += (next < 0 ? piece.length : next) - at;
          if (next < 0) break;
          at = next;
        }
        const problem = step(piece[at] ?? 0, byteAt);
        if (problem !== null) return problem;
        offset += 1;
      }
      const last = piece.subarray(-tail.length);
      tail.copyWithin(0, last.length);
      tail.set(last, tail.length - last.length);
      return null;
    },
    /** Returns the refusal of a body that has ended here; null if it is complete. */
    end(): Failed | null {
      // Some clients end the body with the two hyphens, without a line end.
      if (phase === "epilogue" || (phase === "line" && line === "--")) return null;
      return refuseForm("The multipart body has no closing boundary.");
    },
  };
}

function newFinder(pattern: Uint8Array) {
  // The longest beginning of the pattern that also ends its first bytes, for each number of them.
  const borders = [0, 0];
  for (let length = 1, border = 0; length < pattern.length; length++) {
    border = longer(border, pattern[length] ?? 0);
    borders.push(border);
  }
  let matched = 0;

  function longer(from: number, byte: number): number {
    let length = from;
    while (length > 0 && pattern[length] !== byte) length = borders[length] ?? 0;
    return pattern[length] === byte ? length + 1 : 0;
  }

  return {
    /** Returns true if the pattern ends with this byte. */
    push(byte: number): boolean {
      matched = longer(matched, byte);
      if (matched < pattern.length) return false;
      matched = 0;
      return true;
    },
    /** True if the last bytes begin the pattern. */
    isWithin: (): boolean => matched > 0,
  };
}

function notFirst(): Failed<Refusal> {
  return refuseForm("The request must begin with its boundary.");
}

function badLine(): Failed<Refusal> {
  return refuseForm(
    "A line of the request with the boundary, or of a part's headers, is malformed.",
  );
}
