import { RE2JS } from "re2js";

/** Check of a text against the `pattern` of a strict schema. */
export interface PatternCheck {
  /** Estimated number of states, to which the time for each character of a text is proportional. */
  readonly size: number;
  /** True if a part of the text matches. */
  matches(text: string): boolean;
}

/** Maximum length of a pattern in characters, and its maximum number of states: to build one takes a few µs. */
const MAX_PATTERN_CHARS = 2_000, MAX_PATTERN_SIZE = 1_000;

/**
 * Returns the check of an ECMAScript pattern; null if it is none, if it is too large, or if its check could
 * take a time that grows faster than the text: with lookarounds and back references it could. The engine is
 * that of RE2, in which `\s` is only the white space of ASCII.
 */
export function parsePattern(source: string): PatternCheck | null {
  if (source.length > MAX_PATTERN_CHARS) return null;
  const size = sizeOf(source);
  if (size > MAX_PATTERN_SIZE) return null;
  try {
    // Both engines refuse a pattern by an exception. RE2 also reads what ECMAScript does not have.
    new RegExp(source, "u");
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
    return { size, matches: (text) => compiled.test(text) };
  } catch {
    return null;
  }
}

const COUNTED = /\{(\d+)(?:,(\d*))?\}/y;

/**
 * Returns the estimated number of states of a pattern: each character and class counts once, and a counted
 * repetition repeats the states before it.
 */
function sizeOf(source: string): number {
  /** Sizes of the open groups. */
  const open = [0];
  /** Size of the last character, class or group. */
  let last = 0;

  function add(size: number): void {
    last = size;
    open.push((open.pop() ?? 0) + size);
  }

  for (let at = 0; at < source.length; at++) {
    const character = source.charAt(at);
    if (character === "\\") {
      at += 1;
      add(1);
    } else if (character === "[") {
      at = endOfClass(source, at);
      add(1);
    } else if (character === "(") open.push(0);
    else if (character === ")") add((open.length > 1 ? open.pop() ?? 0 : 0) + 1);
    else {
      COUNTED.lastIndex = at;
      const [counted, least = "", most = ""] = COUNTED.exec(source) ?? [];
      if (counted === undefined) add(1);
      else {
        add(last * Math.max(Number(least), Number(most)));
        at += counted.length - 1;
      }
    }
  }
  return open.reduce((sum, size) => sum + size, 0);
}

/** Returns the index of the end of a class that starts at an index, or of the pattern's end. */
function endOfClass(source: string, start: number): number {
  let at = start + 1;
  while (at < source.length && source.charAt(at) !== "]") at += source.charAt(at) === "\\" ? 2 : 1;
  return at;
}
