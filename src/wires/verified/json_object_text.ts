import { isBlank, isDigit } from "../../core/json/scan.ts";

/** Checks the syntax of one JSON object whose text arrives in pieces. */
export interface JsonObjectText {
  /** Reads the next piece. False if the text so far cannot be continued to a JSON object. */
  add(piece: string): boolean;
  /** True after the first character that is not white space. */
  isBegun(): boolean;
  /** True after the end of the object. */
  isWhole(): boolean;
}

/** State of the scanner: what the next character may be. */
type State =
  | "start"
  | "end"
  | "value"
  | "item_or_close"
  | "key_or_close"
  | "key"
  | "colon"
  | "comma_or_close"
  | "string"
  | "escape"
  | "hex"
  | "word"
  | NumberState;

type NumberState =
  | "minus"
  | "zero"
  | "integer"
  | "point"
  | "fraction"
  | "exponent"
  | "exponent_sign"
  | "exponent_digits";

const QUOTE = 34, BACKSLASH = 92, COMMA = 44, COLON = 58;
const OPEN_ARRAY = 91, CLOSE_ARRAY = 93, OPEN_OBJECT = 123, CLOSE_OBJECT = 125;

const WORDS: Readonly<Record<string, string>> = { t: "rue", f: "alse", n: "ull" };

/** States of a number after which it may end. */
const NUMBER_ENDS: readonly State[] = ["zero", "integer", "fraction", "exponent_digits"];

const NUMBER_STATES: ReadonlySet<State> = new Set<State>([
  ...NUMBER_ENDS,
  "minus",
  "point",
  "exponent",
  "exponent_sign",
]);

/** Returns a check for a new text (RFC 8259). Each character is read once. */
export function newJsonObjectText(): JsonObjectText {
  let state: State = "start";
  /** Closing characters of the open objects and arrays. */
  const open: number[] = [];
  let isKey = false;
  /** Characters of a word, or number of hexadecimal digits, that are still to come. */
  let word = "";
  let digits = 0;
  let isSound = true;

  function push(close: number, next: State): State {
    open.push(close);
    return next;
  }

  function pop(code: number): State | null {
    if (open.pop() !== code) return null;
    return afterValue();
  }

  function afterValue(): State {
    return open.length === 0 ? "end" : "comma_or_close";
  }

  function startValue(code: number, character: string): State | null {
    if (code === QUOTE) {
      isKey = false;
      return "string";
    }
    if (code === OPEN_OBJECT) return push(CLOSE_OBJECT, "key_or_close");
    if (code === OPEN_ARRAY) return push(CLOSE_ARRAY, "item_or_close");
    if (character === "-") return "minus";
    if (character === "0") return "zero";
    if (isDigit(code)) return "integer";
    word = WORDS[character] ?? "";
    return word === "" ? null : "word";
  }

  function startKey(code: number): State | null {
    isKey = true;
    return code === QUOTE ? "string" : null;
  }

  function next(code: number, character: string): State | null {
    switch (state) {
      case "string":
        if (code === QUOTE) return isKey ? "colon" : afterValue();
        if (code === BACKSLASH) return "escape";
        return code < 32 ? null : "string";
      case "escape":
        digits = 4;
        if (character === "u") return "hex";
        return '"\\/bfnrt'.includes(character) ? "string" : null;
      case "hex":
        digits -= 1;
        if (!/[\da-f]/i.test(character)) return null;
        return digits === 0 ? "string" : "hex";
      case "word":
        if (character !== word.charAt(0)) return null;
        word = word.slice(1);
        return word === "" ? afterValue() : "word";
      default:
        return isNumberState(state)
          ? nextOfNumber(state, code, character)
          : between(code, character);
    }
  }

  function nextOfNumber(at: NumberState, code: number, character: string): State | null {
    const more = continueNumber(at, code, character);
    if (more !== null) return more;
    if (!NUMBER_ENDS.includes(at)) return null;
    state = afterValue();
    return between(code, character);
  }

  function between(code: number, character: string): State | null {
    if (isBlank(code)) return state;
    switch (state) {
      case "start":
        return code === OPEN_OBJECT ? push(CLOSE_OBJECT, "key_or_close") : null;
      case "value":
        return startValue(code, character);
      case "item_or_close":
        return code === CLOSE_ARRAY ? pop(code) : startValue(code, character);
      case "key_or_close":
        return code === CLOSE_OBJECT ? pop(code) : startKey(code);
      case "key":
        return startKey(code);
      case "colon":
        return code === COLON ? "value" : null;
      case "comma_or_close":
        if (code !== COMMA) return pop(code);
        return open.at(-1) === CLOSE_OBJECT ? "key" : "value";
      default:
        return null;
    }
  }

  return {
    add(piece) {
      for (let at = 0; at < piece.length && isSound; at++) {
        const code = piece.charCodeAt(at);
        const reached = next(code, piece.charAt(at));
        if (reached === null) isSound = false;
        else state = reached;
      }
      return isSound;
    },
    isBegun: () => state !== "start",
    isWhole: () => isSound && state === "end",
  };
}

function continueNumber(state: NumberState, code: number, character: string): State | null {
  switch (state) {
    case "minus":
      if (character === "0") return "zero";
      return isDigit(code) ? "integer" : null;
    case "zero":
    case "integer":
      if (state === "integer" && isDigit(code)) return "integer";
      if (character === ".") return "point";
      return isExponent(character) ? "exponent" : null;
    case "point":
      return isDigit(code) ? "fraction" : null;
    case "fraction":
      if (isDigit(code)) return "fraction";
      return isExponent(character) ? "exponent" : null;
    case "exponent":
      if (character === "+" || character === "-") return "exponent_sign";
      return isDigit(code) ? "exponent_digits" : null;
    case "exponent_sign":
    case "exponent_digits":
      return isDigit(code) ? "exponent_digits" : null;
  }
}

function isNumberState(state: State): state is NumberState {
  return NUMBER_STATES.has(state);
}

function isExponent(character: string): boolean {
  return character === "e" || character === "E";
}
