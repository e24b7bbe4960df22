import type { Refusal } from "../core/failure.ts";
import { type Failed, refuse } from "../core/result.ts";

const LF = 10, CR = 13, SPACE = 32, TAB_CODE = 9, HYPHEN_CODE = 45;

/** Largest head of a part in bytes. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Maximum number of parts: a form of the API has fewer than a hundred. */
const MAX_PARTS = 1024;

/** Where a part is in the body, in bytes from its beginning. */
export interface PartPlace {
  /** The header lines of the part. */
  readonly head: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** Finds the parts of a multipart body in pieces of any size, reading each byte once. */
export interface PartScanner {
  /** Returns the refusal of the body; null if it goes on. */
  push(piece: Uint8Array): Failed | null;
  /** Returns the refusal of a body that has ended here; null if it is complete. */
  end(): Failed | null;
}

/**
 * What comes next: a line behind a boundary, the head of a part, its content, or nothing but white space
 * behind the last boundary.
 */
type Phase = "line" | "head" | "content" | "epilogue";

/**
 * Returns a scanner for a boundary (RFC 2046, section 5.1.1). Stricter than the standard: nothing comes
 * before the first boundary and behind the last one, the boundary is nowhere else at the beginning of a
 * line, and lines end in CRLF. `onPart` is called with each part and may refuse it.
 */
export function newPartScanner(
  boundary: string,
  onPart: (place: PartPlace) => Failed | null,
): PartScanner {
  // It begins with the only LF in it, so that a mismatch never has to look back.
  const delimiter = new TextEncoder().encode(`\n--${boundary}`);
  let phase: Phase = "content";
  let offset = 0;
  // The body begins with a boundary, as if a line end were before it.
  let matched = 1;
  let before = CR;
  let beforeMatch = CR;
  let line = "";
  let head: number[] = [];
  let start: number | null = null;
  let partHead = new Uint8Array();
  let count = 0;

  function content(byte: number): Failed | null {
    if (byte === delimiter[matched]) {
      matched += 1;
      if (matched === 1) beforeMatch = before;
    } else {
      if (start === null && matched > 0) return notFirst();
      matched = byte === LF ? 1 : 0;
      if (matched === 1) beforeMatch = before;
    }
    before = byte;
    return matched === delimiter.length ? atBoundary() : null;
  }

  function atBoundary(): Failed | null {
    if (beforeMatch !== CR) return badLine();
    // The CR, the LF and the boundary end with this byte.
    const end = offset + 1 - delimiter.length - 1;
    const problem = start === null ? null : onPart({ head: partHead, start, end });
    phase = "line";
    line = "";
    return problem;
  }

  /** Reads the rest of the line of a boundary: white space, or two hyphens for the last one. */
  function afterBoundary(byte: number): Failed | null {
    if (byte === LF) {
      if (!line.endsWith("\r")) return badLine();
      const text = line.slice(0, -1).replace(/[ \t]+$/, "");
      if (text === "--") phase = "epilogue";
      else if (text !== "") return badLine();
      else beginHead();
      return count > MAX_PARTS ? refusal(`The request has more than ${MAX_PARTS} parts.`) : null;
    }
    const isKnown = byte === HYPHEN_CODE || byte === SPACE || byte === TAB_CODE || byte === CR;
    if (!isKnown || line.length > MAX_LINE_CHARS) return badLine();
    line += String.fromCharCode(byte);
    return null;
  }

  function beginHead() {
    phase = "head";
    head = [];
    count += 1;
  }

  function inHead(byte: number): Failed | null {
    head.push(byte);
    if (head.length > MAX_HEAD_BYTES) {
      return refusal(`The headers of part ${count} are larger than ${MAX_HEAD_BYTES} bytes.`);
    }
    if (byte !== LF) return null;
    if (head.at(-2) !== CR) return badLine();
    const isBlank = head.length === 2 || (head.at(-3) === LF && head.at(-4) === CR);
    if (!isBlank) return null;
    partHead = new Uint8Array(head.slice(0, -2));
    phase = "content";
    start = offset + 1;
    // A boundary here, right behind the blank line, is a boundary only to lenient parsers.
    matched = 1;
    beforeMatch = LF;
    before = LF;
    return null;
  }

  function inEpilogue(byte: number): Failed | null {
    return byte === CR || byte === LF || byte === SPACE || byte === TAB_CODE
      ? null
      : refusal("The request has text behind its last boundary.");
  }

  function step(byte: number): Failed | null {
    switch (phase) {
      case "content":
        return content(byte);
      case "line":
        return afterBoundary(byte);
      case "head":
        return inHead(byte);
      case "epilogue":
        return inEpilogue(byte);
    }
  }

  return {
    push(piece) {
      for (let at = 0; at < piece.length; at++) {
        // Most bytes are content that begins no boundary.
        if (phase === "content" && matched === 0) {
          const next = piece.indexOf(LF, at);
          if (next < 0) {
            offset += piece.length - at;
            before = piece[piece.length - 1] ?? before;
            return null;
          }
          if (next > at) before = piece[next - 1] ?? before;
          offset += next - at;
          at = next;
        }
        const problem = step(piece[at] ?? 0);
        if (problem !== null) return problem;
        offset += 1;
      }
      return null;
    },
    end() {
      if (phase === "epilogue") return null;
      // Some clients end the body with the two hyphens, without a line end.
      if (phase === "line" && line.trim() === "--") return null;
      return refusal("The request ends without its last boundary.");
    },
  };
}

/** Longest white space behind a boundary. */
const MAX_LINE_CHARS = 256;

function notFirst(): Failed<Refusal> {
  return refusal("The request must begin with its boundary.");
}

function badLine(): Failed<Refusal> {
  return refusal("A line of the request with the boundary, or of a part's headers, is malformed.");
}

function refusal(message: string): Failed<Refusal> {
  return refuse("invalid_multipart", message);
}
