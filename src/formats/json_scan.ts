import { MAX_LEVELS } from "../core/json/json.ts";
import { isBlank } from "../core/json/scan.ts";
import type { JsonOutline } from "../core/stream/reply.ts";
import {
  findName,
  type FoundMember,
  isEscapedName,
  newFoundMember,
  outlineOf,
  parseName,
} from "./json_outline.ts";
import { endOfEscape, endOfWord, skipPlain } from "./json_tokens.ts";
import { newKeyCosts } from "./key_costs.ts";

/** Bytes that are scanned in one piece, which takes some milliseconds. */
const PIECE_BYTES = 256 * 1024;

/**
 * Steps of parsing one value. A step takes about 50 ns: a number takes one and 10 bytes, a string
 * or an empty array 200 ns and 50 bytes.
 */
const STEPS = { word: 1, string: 4, container: 4 } as const;

const QUOTE = 34, COMMA = 44, COLON = 58, BACKSLASH = 92;
const OPEN_ARRAY = 91, CLOSE_ARRAY = 93, OPEN_OBJECT = 123, CLOSE_OBJECT = 125;

/** Token to which the next byte belongs, or which it may begin. */
type State =
  | "value"
  | "value_or_close"
  | "key"
  | "key_or_close"
  | "colon"
  | "comma_or_close"
  | "in_string"
  | "in_key"
  | "end";

/** Problem of a JSON text: it is invalid, or it exceeds the bounds. */
export type ScanProblem = "invalid" | "too_large";

/**
 * Maximum number of members of the outermost object whose names are written with an escape: each is
 * parsed.
 */
const MAX_ESCAPED_MEMBERS = 10_000;

/** Bounds of a scan, and what is to be found. */
export interface ScanOptions {
  /** Maximum number of steps that parsing the text may take. */
  readonly maxSteps: number;
  /** Names of the members of the outermost object that are needed. */
  readonly needed?: readonly string[];
}

/** A scan of one JSON text, in pieces. */
export interface JsonScan {
  /** Scans the next piece. True if it was the last one. */
  next(): boolean;
  /** Returns the number of steps that parsing the scanned text takes. */
  steps(): number;
  /** Returns the problem of the scanned text; null if it is JSON within the bounds. */
  problem(): ScanProblem | null;
  /**
   * Returns the outline of the object; null if the text is no object, no UTF-8, or has a problem.
   */
  outline(): JsonOutline | null;
  /**
   * Returns the text of a needed member, up to the place where a problem ended the scan; null if
   * the scanned text has none.
   */
  member(name: string): Uint8Array | null;
  /**
   * Returns the bytes of the strings in the scanned text that are values. A character that is
   * written with its code counts as three.
   */
  stringBytes(): number;
}

/**
 * Begins a scan of a JSON text in UTF-8 (RFC 8259), which counts the steps that parsing it would
 * take, and builds no values. Each byte is read once, and the memory of the scan does not grow with
 * the text. More than `MAX_LEVELS` levels are too large.
 */
export function newJsonScan(bytes: Uint8Array, { maxSteps, needed = [] }: ScanOptions): JsonScan {
  const found = new Map<string, FoundMember>();
  // No array of full length: the arguments of thousands of calls are scanned one by one.
  const isArrayAt: number[] = [];
  const keys = newKeyCosts();
  let state: State = "value";
  let depth = 0;
  let at = 0;
  let steps = 0;
  let stringBytes = 0;
  let problem: ScanProblem | null = null;
  let keyStart = 0;
  let keyEnd = 0;
  /** The value of a member of the outermost object begins next. */
  let isMemberNext = false;
  let escapedMembers = 0;
  /** The needed member that is being scanned. */
  let current: FoundMember | null = null;

  function fail(kind: ScanProblem = "invalid"): void {
    problem ??= kind;
  }

  function beginValue(): void {
    if (isMemberNext) {
      isMemberNext = false;
      const isEscaped = isEscapedName(bytes, keyStart, keyEnd);
      if (isEscaped && ++escapedMembers > MAX_ESCAPED_MEMBERS) return fail("too_large");
      const name = isEscaped
        ? parseName(bytes, keyStart, keyEnd, needed)
        : findName(bytes, keyStart, keyEnd, needed);
      current = name === null ? null : newFoundMember(at);
      // The last one of repeated keys counts, as for `JSON.parse`.
      if (name !== null && current !== null) found.set(name, current);
    } else if (depth === 2 && current !== null && isArrayAt[2] === 1) {
      current.length += 1;
      current.lastStart = at;
    }
  }

  function endValue(): void {
    state = depth === 0 ? "end" : "comma_or_close";
    if (current === null) return;
    if (depth === 1) {
      current.end = at;
      current = null;
    } else if (depth === 2) current.lastEnd = at;
  }

  function open(isArray: boolean): void {
    beginValue();
    steps += STEPS.container;
    depth += 1;
    at += 1;
    if (depth > MAX_LEVELS) return fail("too_large");
    isArrayAt[depth] = isArray ? 1 : 0;
    if (!isArray) keys.begin(depth);
    state = isArray ? "value_or_close" : "key_or_close";
  }

  function close(isArray: boolean): void {
    if (depth === 0 || (isArrayAt[depth] === 1) !== isArray) return fail();
    depth -= 1;
    at += 1;
    endValue();
  }

  function readString(limit: number): void {
    while (at < limit && problem === null) {
      const start = at;
      at = skipPlain(bytes, at, limit);
      stringBytes += at - start;
      if (at === limit) return;
      if (bytes[at] === QUOTE) {
        at += 1;
        return endValue();
      }
      const escapeStart = at;
      at = bytes[at] === BACKSLASH ? endOfEscape(bytes, at) : -1;
      if (at < 0) fail();
      else stringBytes += at - escapeStart > 2 ? 3 : 1;
    }
  }

  function readKey(limit: number): void {
    for (; at < limit && problem === null;) {
      const code = bytes[at] ?? 0;
      if (code === QUOTE) {
        keyEnd = at;
        at += 1;
        state = "colon";
        steps += keys.end(depth);
        return;
      }
      keys.add(code);
      if (code < 32) return fail();
      at = code === BACKSLASH ? endOfEscape(bytes, at) : at + 1;
      if (at < 0) fail();
    }
  }

  function beginKey(code: number): void {
    if (code !== QUOTE) return fail();
    at += 1;
    keyStart = at;
    state = "in_key";
  }

  function readValue(code: number): void {
    if (code === OPEN_ARRAY) return open(true);
    if (code === OPEN_OBJECT) return open(false);
    beginValue();
    if (code === QUOTE) {
      steps += STEPS.string;
      at += 1;
      state = "in_string";
      return;
    }
    steps += STEPS.word;
    at = endOfWord(bytes, at);
    if (at < 0) return fail();
    endValue();
  }

  function readBetween(code: number): void {
    switch (state) {
      case "value_or_close":
        return code === CLOSE_ARRAY ? close(true) : readValue(code);
      case "value":
        return readValue(code);
      case "key_or_close":
        return code === CLOSE_OBJECT ? close(false) : beginKey(code);
      case "key":
        return beginKey(code);
      case "colon":
        if (code !== COLON) return fail();
        at += 1;
        isMemberNext = depth === 1;
        state = "value";
        return;
      case "comma_or_close":
        if (code !== COMMA) {
          return code === CLOSE_ARRAY || code === CLOSE_OBJECT
            ? close(code === CLOSE_ARRAY)
            : fail();
        }
        at += 1;
        state = isArrayAt[depth] === 1 ? "value" : "key";
        return;
      case "in_string":
      case "in_key":
      case "end":
        return fail();
    }
  }

  return {
    next() {
      const limit = Math.min(bytes.length, at + PIECE_BYTES);
      while (at < limit && problem === null) {
        if (state === "in_string") readString(limit);
        else if (state === "in_key") readKey(limit);
        else {
          const code = bytes[at] ?? 0;
          if (isBlank(code)) at += 1;
          else readBetween(code);
        }
        if (steps > maxSteps) fail("too_large");
      }
      if (problem === null && at >= bytes.length && state !== "end") fail();
      return problem !== null || at >= bytes.length;
    },
    steps: () => steps,
    problem: () => problem,
    outline: () => problem === null ? outlineOf(bytes, found) : null,
    member(name) {
      const one = found.get(name);
      return one === undefined ? null : bytes.subarray(one.start, one === current ? at : one.end);
    },
    stringBytes: () => stringBytes,
  };
}

/** Scans a JSON text to its end. Can be interrupted. */
export function* scanSteps(
  bytes: Uint8Array,
  options: ScanOptions,
): Generator<void, JsonScan, void> {
  const scan = newJsonScan(bytes, options);
  while (!scan.next()) yield;
  return scan;
}

/** The same, in which each piece waits for its `turn`. */
export async function scanJson(
  bytes: Uint8Array,
  options: ScanOptions,
  turn: () => Promise<void> | null,
): Promise<JsonScan> {
  const scan = newJsonScan(bytes, options);
  do await turn(); while (!scan.next());
  return scan;
}
