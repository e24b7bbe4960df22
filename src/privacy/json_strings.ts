import { endOfStringSteps, endOfValue, skipBlanks } from "../core/json/scan.ts";
import {
  exactNumber,
  isObject,
  type JsonObject,
  type JsonValue,
  parseExact,
} from "../core/json/json.ts";
import type { Span } from "../formats/edit.ts";

/** Path of a value: names of members and indices. */
export type JsonPath = readonly (string | number)[];

/** A string, the name of a member, or a number of a JSON text: `text.slice(start, end)`. */
export interface JsonToken extends Span {
  readonly kind: "string" | "name" | "number";
  /** The text of a long string, if the walk has objects. */
  readonly text?: string;
}

/** State of a walk in the objects and lists that it enters. */
export interface Objects {
  /**
   * Called for each object and list where it begins, with the last step of its path. Returns what
   * is known of an object; null for a list.
   */
  open(step: string | number | undefined, isList: boolean): JsonObject | null;
  /** Called at the index after each object and list. */
  close(end: number): void;
}

/** The nearest objects of a token: for each step of its path the one that the step begins in. */
export type Parents = readonly (JsonObject | null)[];

/** Returns the objects of a text whose value is known. */
export function objectsOf(root: JsonValue): Objects {
  // Found on the way: a path may have any length, and as many strings.
  const holders: (JsonValue | undefined)[] = [];
  return {
    open(step) {
      const holder = step === undefined ? root : memberOf(holders[holders.length - 1], step);
      holders.push(holder);
      return isObject(holder) ? holder : null;
    },
    close: () => void holders.pop(),
  };
}

/** Tokens after which a walk may be interrupted, and length of a string from which it may too. */
const TOKENS_PER_STEP_COUNT = 2_048, LONG_STRING_CHARS = 256 * 1024;

/** Characters of a string whose escapes are decoded in one piece. */
const PIECE_CHARS = 64 * 1024;

/** Escapes of a string after which the search for a position in it may be interrupted. */
const ESCAPES_PER_STEP_COUNT = 64 * 1024;

const QUOTE = 34, COMMA = 44, BACKSLASH = 92, LOWER_U_CODE = 117;
const LOWER_A_CODE = 97, LOWER_N_CODE = 110, LOWER_T_CODE = 116;
const OPEN_ARRAY = 91, CLOSE_ARRAY = 93, OPEN_OBJECT = 123, CLOSE_OBJECT = 125;

/**
 * Calls `visit` for the strings, names and numbers of a JSON text in their order, whatever its
 * depth. `path` and `parents` are only valid during the call. Who needs texts and the objects that
 * hold a token gives `objects`. Yields now and then, so that the walk can be interrupted. The text
 * must be valid for `JSON.parse`.
 */
export function* walkJson(
  text: string,
  visit: (token: JsonToken, path: JsonPath, parents: Parents) => void,
  objects?: Objects,
): Generator<void, void, void> {
  const path: (string | number)[] = [];
  const isArray: boolean[] = [];
  const parents: (JsonObject | null)[] = [];
  let isName = false;
  let count = 0;
  let stepEnd = LONG_STRING_CHARS;
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const code = text.charCodeAt(at);
    if (++count % TOKENS_PER_STEP_COUNT === 0 || at > stepEnd) {
      stepEnd = at + LONG_STRING_CHARS;
      yield;
    }
    if (code === QUOTE) {
      const quote = text.indexOf('"', at + 1);
      const isShort = quote >= 0 && text.charCodeAt(quote - 1) !== BACKSLASH;
      const end = isShort ? quote + 1 : yield* endOfStringSteps(text, at);
      if (isName) {
        path[path.length - 1] = textOfString(text, at, end);
        visit({ kind: "name", start: at, end }, path, parents);
        isName = false;
        // Behind the colon.
        at = skipBlanks(text, end) + 1;
      } else {
        const isLong = end - at > LONG_STRING_CHARS;
        if (isLong) yield;
        const long = isLong && objects !== undefined
          ? { text: yield* longText(text, at, end) }
          : null;
        visit({ kind: "string", start: at, end, ...long }, path, parents);
        at = end;
      }
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      const known = objects?.open(path[path.length - 1], code === OPEN_ARRAY) ?? null;
      parents.push(known ?? parents[parents.length - 1] ?? null);
      isArray.push(code === OPEN_ARRAY);
      path.push(code === OPEN_ARRAY ? 0 : "");
      isName = code === OPEN_OBJECT;
      at++;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      isArray.pop();
      path.pop();
      parents.pop();
      isName = false;
      at++;
      objects?.close(at);
    } else if (code === COMMA) {
      const last = path[path.length - 1];
      if (isArray[isArray.length - 1] === true) path[path.length - 1] = Number(last) + 1;
      else isName = true;
      at++;
    } else {
      const end = endOfValue(text, at);
      visit({ kind: "number", start: at, end }, path, parents);
      at = end;
    }
  }
}

/** Length of a JSON text up to which it is parsed as a whole, which is several times as fast. */
const MAX_PARSED_CHARS = 1024 * 1024;

/** Returns the value of a JSON text as `parseExact` does. A long one is parsed in pieces. */
export function* parseSteps(text: string): Generator<void, JsonValue, void> {
  const whole = text.length > MAX_PARSED_CHARS ? undefined : parseExact(text);
  if (whole !== undefined) return whole;
  const open: (JsonObject | JsonValue[])[] = [];
  let root: JsonValue = null;

  function add<Value extends JsonValue>(step: string | number | undefined, value: Value): Value {
    const holder = open[open.length - 1];
    if (holder === undefined) root = value;
    else if (Array.isArray(holder)) holder.push(value);
    else if (step === "__proto__") {
      Object.defineProperty(holder, step, {
        value,
        configurable: true,
        enumerable: true,
        writable: true,
      });
    } else if (step !== undefined) holder[step] = value;
    return value;
  }

  const objects: Objects = {
    open(step, isList) {
      const value = add(step, isList ? [] : {});
      open.push(value);
      return isObject(value) ? value : null;
    },
    close: () => void open.pop(),
  };
  yield* walkJson(text, ({ kind, start, end, text: long }, path) => {
    if (kind === "name") return;
    const step = path[path.length - 1];
    if (kind === "string") return void add(step, long ?? textOfString(text, start, end));
    const code = text.charCodeAt(start);
    if (code >= LOWER_A_CODE) add(step, code === LOWER_N_CODE ? null : code === LOWER_T_CODE);
    else add(step, exactNumber(text.slice(start, end)));
  }, objects);
  return root;
}

/** Returns the text of a long string like `textOfString`, in pieces. */
function longText(text: string, start: number, end: number): Generator<void, string, void> {
  return decodeSteps(text.slice(start + 1, end - 1), decoded);
}

/** Returns a text that `decode` makes of pieces with escapes, of which none cuts an escape. */
export function* decodeSteps(
  text: string,
  decode: (piece: string) => string,
): Generator<void, string, void> {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const piece = text.slice(from, from + PIECE_CHARS);
    // No escape is cut in two.
    let at = 0;
    for (let next = piece.indexOf("\\"); next >= 0; next = piece.indexOf("\\", at)) {
      at = next + (text.charCodeAt(from + next + 1) === LOWER_U_CODE ? 6 : 2);
    }
    const to = from + Math.max(piece.length, at);
    pieces.push(at === 0 ? piece : decode(text.slice(from, to)));
    from = to;
    yield;
  }
  return pieces.join("");
}

/** Returns the text of the content of a string. */
function decoded(content: string): string {
  // A string has no keys, for which `parseJson` would look.
  const parsed: unknown = JSON.parse(`"${content}"`);
  return typeof parsed === "string" ? parsed : content;
}

/** Returns the text of the string whose quotes are at `start` and before `end`. */
export function textOfString(text: string, start: number, end: number): string {
  const plain = text.slice(start + 1, end - 1);
  return plain.includes("\\") ? decoded(plain) : plain;
}

/**
 * Returns a function from positions in the text of a string to positions in its JSON text, whose
 * first quote is at `start`. Positions must come in rising order. Can be interrupted.
 */
export function newPositions(
  text: string,
  start: number,
  end: number,
): (at: number) => Generator<void, number, void> {
  // Only the string itself is searched: a text may have many strings.
  const literal = text.slice(start, end);
  let decoded = 0;
  let raw = 1;
  let escape = literal.indexOf("\\");
  let count = 0;
  return function* (at) {
    while (decoded < at) {
      if (++count % ESCAPES_PER_STEP_COUNT === 0) yield;
      const plain = escape < 0 ? literal.length - raw : escape - raw;
      const step = Math.min(plain, at - decoded);
      decoded += step;
      raw += step;
      if (decoded === at) break;
      raw += literal.charCodeAt(raw + 1) === LOWER_U_CODE ? 6 : 2;
      decoded++;
      escape = literal.indexOf("\\", raw);
    }
    return start + raw;
  };
}

/** Returns the value at a path; undefined if there is none. */
export function valueAt(root: JsonValue, path: JsonPath): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(memberOf, root);
}

/** Returns a member of an object or an element of an array; undefined for any other value. */
export function memberOf(
  value: JsonValue | undefined,
  step: string | number,
): JsonValue | undefined {
  if (Array.isArray(value)) return value[Number(step)];
  return isObject(value) ? value[step] : undefined;
}

/** Returns a path as error messages write it, such as `messages[0].content`. */
export function writePath(path: JsonPath): string {
  return path.map((step, index) =>
    typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`
  ).join("");
}
