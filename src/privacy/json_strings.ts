import { endOfString, endOfValue, skipBlanks } from "../core/json/scan.ts";
import { isObject, type JsonValue } from "../core/json/json.ts";
import type { Span } from "../formats/edit.ts";

/** Path of a value: names of members and indices. */
export type JsonPath = readonly (string | number)[];

/** A string, the name of a member, or a number of a JSON text: `text.slice(start, end)`. */
export interface JsonToken extends Span {
  readonly kind: "string" | "name" | "number";
}

/** Tokens after which a walk may be interrupted, and length of a string from which it may too. */
const TOKENS_PER_STEP_COUNT = 2_048, LONG_STRING_CHARS = 256 * 1024;

const QUOTE = 34, COMMA = 44, OPEN_ARRAY = 91, CLOSE_ARRAY = 93, OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * Calls `visit` for the strings, names and numbers of a JSON text in their order, whatever its
 * depth. `path` is only valid during the call. Yields now and then, so that the walk can be
 * interrupted. The text must be valid for `JSON.parse`.
 */
export function* walkJson(
  text: string,
  visit: (token: JsonToken, path: JsonPath) => void,
): Generator<void, void, void> {
  const path: (string | number)[] = [];
  const isArray: boolean[] = [];
  let isName = false;
  let count = 0;
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const code = text.charCodeAt(at);
    if (++count % TOKENS_PER_STEP_COUNT === 0) yield;
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (isName) {
        path[path.length - 1] = textOfString(text, at, end);
        visit({ kind: "name", start: at, end }, path);
        isName = false;
        // Behind the colon.
        at = skipBlanks(text, end) + 1;
      } else {
        if (end - at > LONG_STRING_CHARS) yield;
        visit({ kind: "string", start: at, end }, path);
        at = end;
      }
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      isArray.push(code === OPEN_ARRAY);
      path.push(code === OPEN_ARRAY ? 0 : "");
      isName = code === OPEN_OBJECT;
      at++;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      isArray.pop();
      path.pop();
      isName = false;
      at++;
    } else if (code === COMMA) {
      const last = path[path.length - 1];
      if (isArray[isArray.length - 1] === true) path[path.length - 1] = Number(last) + 1;
      else isName = true;
      at++;
    } else {
      const end = endOfValue(text, at);
      visit({ kind: "number", start: at, end }, path);
      at = end;
    }
  }
}

/** Returns the text of the string whose quotes are at `start` and before `end`. */
export function textOfString(text: string, start: number, end: number): string {
  const plain = text.slice(start + 1, end - 1);
  if (!plain.includes("\\")) return plain;
  // A string has no keys, for which `parseJson` would look.
  const parsed: unknown = JSON.parse(text.slice(start, end));
  return typeof parsed === "string" ? parsed : plain;
}

const LOWER_U_CODE = 117;

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
