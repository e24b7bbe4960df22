import { isObject, parseJson } from "../../core/json/json.ts";
import { isFirstHalf } from "../../core/surrogates.ts";
import { INPUT } from "../../prompt/bridge_custom_tools.ts";

/** Reads the input of a custom tool from the arguments of the function that replaces it. */
export interface InputReader {
  /** Returns the text that is known with the next piece of the arguments. */
  push(piece: string): string;
  /** Returns the rest of the text when no piece follows. */
  end(): string;
  /** True if the text is complete: what follows in the arguments is left out. */
  isWhole(): boolean;
  /** Returns the characters that are held back. */
  heldChars(): number;
}

/** Arguments that begin like this are delivered as they arrive, all others when they are whole. */
const BEGINNING = `{"${INPUT}":"`;

/** Offsets in `BEGINNING` before which white space is allowed. */
const TOKENS: readonly number[] = [0, 1, BEGINNING.length - 2, BEGINNING.length - 1];

const BACKSLASH = 92, SMALL_U_CODE = 117;

/** The characters of the escapes of one letter, as codes by the code of the letter; -1 for none. */
const ESCAPES = new Int16Array(128).fill(-1);
for (const pair of ["b\b", "f\f", "n\n", "r\r", "t\t", '""', "//", "\\\\"]) {
  ESCAPES[pair.charCodeAt(0)] = pair.charCodeAt(1);
}

/** Length of the longest escape (`\u0031`). */
const ESCAPE_CHARS = 6;

/** Characters that are made a text at once: all are arguments of one call. */
const MAX_CODES = 4_096;

/**
 * Returns the reader of one call. Its text is the same for all ways to split the arguments: the
 * string `input` of an object, a JSON string, or otherwise the arguments as they are. A surrogate
 * without its other half becomes U+FFFD.
 */
export function newInputReader(): InputReader {
  let state: "beginning" | "text" | "held" | "whole" = "beginning";
  /** Number of characters of `BEGINNING` that have arrived. */
  let matched = 0;
  /** All arguments while it is not known that their text is delivered as it arrives. */
  let held = "";
  /** Escape that the last piece has cut. */
  let cut = "";
  /** Half of a character, whose other half may follow. */
  let half = "";

  function push(piece: string): string {
    if (state === "whole") return "";
    if (state === "text") return addText(piece);
    held += piece;
    if (state === "held") return "";
    for (let at = 0; at < piece.length; at++) {
      const character = piece.charAt(at);
      if (TOKENS.includes(matched) && isSpace(character)) continue;
      if (character !== BEGINNING[matched]) {
        state = "held";
        return "";
      }
      matched += 1;
      if (matched < BEGINNING.length) continue;
      state = "text";
      held = "";
      return addText(piece.slice(at + 1));
    }
    return "";
  }

  function addText(piece: string): string {
    const text = cut + piece;
    let end = text.length;
    for (let at = nextSpecial(text, 0); at >= 0; at = nextSpecial(text, at + 2)) {
      if (text[at] === '"') {
        end = at;
        state = "whole";
        break;
      }
      const isLast = at + ESCAPE_CHARS > text.length;
      if (isLast && /^\\(?:u[0-9a-f]{0,3})?$/i.test(text.slice(at))) {
        end = at;
        break;
      }
    }
    cut = state === "whole" ? "" : text.slice(end);
    return joined(half + unescaped(text.slice(0, end)));
  }

  function joined(text: string): string {
    const isHalf = state !== "whole" && isFirstHalf(text.charCodeAt(text.length - 1));
    half = isHalf ? text.slice(-1) : "";
    return (isHalf ? text.slice(0, -1) : text).toWellFormed();
  }

  return {
    push,
    end() {
      const isHeld = state === "beginning" || state === "held";
      state = "whole";
      const text = isHeld ? wholeText(held) : "";
      held = "";
      return text;
    },
    isWhole: () => state === "whole",
    heldChars: () => held.length,
  };
}

/** Returns the input of a custom tool from the whole arguments of its function. */
export function inputOf(text: string): string {
  const reader = newInputReader();
  return reader.push(text) + reader.end();
}

function wholeText(text: string): string {
  const value = parseJson(text);
  const input = isObject(value) ? value[INPUT] : value;
  return (typeof input === "string" ? input : text).toWellFormed();
}

/** Returns the offset of the next quote or backslash; -1 if there is none. */
function nextSpecial(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34 || code === 92) return at;
  }
  return -1;
}

/**
 * Returns the text of a JSON string. An escape that JSON does not have is left as it is. By codes,
 * because a replacement takes ten times as long and 90 bytes for each of millions of escapes.
 */
function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  const codes = new Uint16Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== BACKSLASH || at + 1 === text.length) {
      codes[length++] = code;
      continue;
    }
    const next = text.charCodeAt(at + 1);
    const known = next === SMALL_U_CODE ? hexAt(text, at + 2) : ESCAPES[next] ?? -1;
    codes[length++] = known < 0 ? code : known;
    if (known >= 0) at += next === SMALL_U_CODE ? ESCAPE_CHARS - 1 : 1;
    // The second character of an unknown escape begins none.
    else if (next !== SMALL_U_CODE) codes[length++] = text.charCodeAt(++at);
  }
  const parts: string[] = [];
  for (let at = 0; at < length; at += MAX_CODES) {
    parts.push(String.fromCharCode(...codes.subarray(at, Math.min(length, at + MAX_CODES))));
  }
  return parts.join("");
}

/** Returns the number of four hexadecimal digits; -1 if they are none. */
function hexAt(text: string, at: number): number {
  let number = 0;
  for (let place = at; place < at + 4; place++) {
    const digit = hexDigit(text.charCodeAt(place));
    if (digit < 0) return -1;
    number = number * 16 + digit;
  }
  return number;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

function isSpace(character: string): boolean {
  return character === " " || character === "\n" || character === "\r" || character === "\t";
}
