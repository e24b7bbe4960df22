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

const ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  '"': '"',
  "/": "/",
  "\\": "\\",
};

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
      if (/^\\(?:u[0-9a-f]{0,3})?$/i.test(text.slice(at, at + 6))) {
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

/** Returns the text of a JSON string. An escape that JSON does not have is left as it is. */
function unescaped(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-f]{4})|([^u]))/gi,
    (escape, code: string | undefined, letter: string | undefined) =>
      code === undefined
        ? ESCAPES[letter ?? ""] ?? escape
        : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function isSpace(character: string): boolean {
  return character === " " || character === "\n" || character === "\r" || character === "\t";
}
