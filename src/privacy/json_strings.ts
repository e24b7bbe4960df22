import { endOfString, endOfValue, skipBlanks } from "../core/json/scan.ts";
import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import type { Span } from "../formats/edit.ts";

/** Path of a value: names of members and indices. */
export type JsonPath = readonly (string | number)[];

/** A string, the name of a member, or a number of a JSON text: `text.slice(start, end)`. */
export interface JsonToken extends Span {
  readonly kind: "string" | "name" | "number";
  /** The text of a long string with escapes, if the walk has a root. */
  readonly text?: string;
}

/** Tokens after which a walk may be interrupted, and length of a string from which it may too. */
const TOKENS_PER_STEP_COUNT = 2_048, LONG_STRING_CHARS = 256 * 1024;

const QUOTE = 34, COMMA = 44, OPEN_ARRAY = 91, CLOSE_ARRAY = 93, OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125, LOWER_U_CODE = 117;

/**
 * Calls `visit` for the strings, names and numbers of a JSON text in their order, whatever its
 * depth. `path` is only valid during the call. Who needs texts and the nearest object that holds a
 * token gives the value of the text as `root`. Yields now and then, so that the walk can be
 * interrupted. The text must be valid for `JSON.parse`.
 */
export function* walkJson(
  text: string,
  visit: (token: JsonToken, path: JsonPath, parent: JsonObject | null) => void,
  root?: JsonValue,
): Generator<void, void, void> {
  const path: (string | number)[] = [];
  const isArray: boolean[] = [];
  // Found on the way: a path may have any length, and as many strings.
  const holders: (JsonValue | undefined)[] = [];
  const parents: (JsonObject | null)[] = [];
  let isName = false;
  let count = 0;
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const code = text.charCodeAt(at);
    if (++count % TOKENS_PER_STEP_COUNT === 0) yield;
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (isName) {
        path[path.length - 1] = textOfString(text, at, end);
        visit({ kind: "name", start: at, end }, path, parents[parents.length - 1] ?? null);
        isName = false;
        // Behind the colon.
        at = skipBlanks(text, end) + 1;
      } else {
        const isLong = end - at > LONG_STRING_CHARS;
        if (isLong) yield;
        const long = isLong && root !== undefined ? { text: yield* longText(text, at, end) } : null;
        const token = { kind: "string", start: at, end, ...long } as const;
        visit(token, path, parents[parents.length - 1] ?? null);
        at = end;
      }
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      const step = path[path.length - 1];
      const holder = step === undefined ? root : memberOf(holders[holders.length - 1], step);
      holders.push(holder);
      parents.push(isObject(holder) ? holder : parents[parents.length - 1] ?? null);
      isArray.push(code === OPEN_ARRAY);
      path.push(code === OPEN_ARRAY ? 0 : "");
      isName = code === OPEN_OBJECT;
      at++;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      isArray.pop();
      path.pop();
      holders.pop();
      parents.pop();
      isName = false;
      at++;
    } else if (code === COMMA) {
      const last = path[path.length - 1];
      if (isArray[isArray.length - 1] === true) path[path.length - 1] = Number(last) + 1;
      else isName = true;
      at++;
    } else {
      const end = endOfValue(text, at);
      visit({ kind: "number", start: at, end }, path, parents[parents.length - 1] ?? null);
      at = end;
    }
  }
}

/** Returns the text of a long string like `textOfString`, in pieces. */
function* longText(text: string, start: number, end: number): Generator<void, string, void> {
  const pieces: string[] = [];
  for (let from = start + 1; from < end - 1;) {
    const piece = text.slice(from, Math.min(end - 1, from + LONG_STRING_CHARS));
    // No escape is cut in two.
    let at = 0;
    for (let next = piece.indexOf("\\"); next >= 0; next = piece.indexOf("\\", at)) {
      at = next + (text.charCodeAt(from + next + 1) === LOWER_U_CODE ? 6 : 2);
    }
    const to = from + Math.max(piece.length, at);
    pieces.push(at === 0 ? piece : decoded(text.slice(from, to)));
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
 * first quote is at `start`. Positions must come in rising order.
 */
export function newPositions(text: string, start: number, end: number): (at: number) => number {
  // Only the string itself is searched: a text may have many strings.
  const literal = text.slice(start, end);
  let decoded = 0;
  let raw = 1;
  let escape = literal.indexOf("\\");
  if (escape < 0) return (at) => start + 1 + at;
  return (at) => {
    while (decoded < at) {
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
