import { isFirstHalf } from "../surrogates.ts";
import { isObject, type JsonObject, type JsonValue } from "./json.ts";

/**
 * Characters of a string that are written in one piece, and of the values that are written as a
 * whole.
 */
const MAX_PIECE_CHARS = 16 * 1024;

/**
 * Levels down to which small values are written as a whole: the members of an object, and the
 * elements of a list in it.
 */
const MAX_MEASURED_LEVEL = 2;

/** Characters that count for a value besides its strings. */
const VALUE_CHARS = 8;

/** A partly written list or object. */
interface OpenValue {
  /** The keys of an object; null for a list. */
  readonly keys: readonly string[] | null;
  readonly values: readonly (JsonValue | undefined)[];
  at: number;
  separator: string;
}

/** Returns the text of `JSON.stringify`, cut one character behind a length that it exceeds. */
export function jsonBeginning(value: JsonObject, maxChars: number): string {
  let text = "";
  for (const piece of jsonPieces(value)) {
    if (text.length > maxChars) break;
    text += piece;
  }
  return text.slice(0, maxChars + 1);
}

/**
 * Yields the text of `JSON.stringify` in pieces of bounded size, so that neither the text of a long
 * list nor that of a long string is ever in memory as a whole.
 */
export function* jsonPieces(value: JsonObject): Generator<string, void, void> {
  const open: OpenValue[] = [];
  yield opened(open, value);
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const { keys, values, at, separator } = last;
    if (at === values.length) {
      open.pop();
      yield keys === null ? "]" : "}";
      continue;
    }
    last.at++;
    const next = values[at];
    if (next === undefined) continue;
    last.separator = ",";
    const head = keys === null ? separator : `${separator}${JSON.stringify(keys[at])}:`;
    const isContainer = Array.isArray(next) || isObject(next);
    const isWhole = isContainer ? open.length <= MAX_MEASURED_LEVEL && isSmall(next) : true;
    if (!isWhole && isContainer) yield head + opened(open, next);
    else if (typeof next === "string" && next.length > MAX_PIECE_CHARS) {
      yield `${head}"`;
      yield* stringPieces(next);
      yield '"';
    } else yield head + JSON.stringify(next);
  }
}

function opened(open: OpenValue[], value: readonly JsonValue[] | JsonObject): string {
  const keys = isList(value) ? null : Object.keys(value);
  const values = isList(value) ? value : Object.values(value);
  open.push({ keys, values, at: 0, separator: "" });
  return keys === null ? "[" : "{";
}

function isList(value: readonly JsonValue[] | JsonObject): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/**
 * Yields the text of a string without its quotes; no piece ends between two surrogates, which would
 * be escaped.
 */
export function* stringPieces(text: string): Generator<string, void, void> {
  for (let at = 0; at < text.length;) {
    const last = at + MAX_PIECE_CHARS - 1;
    const end = last + (isFirstHalf(text.charCodeAt(last)) ? 2 : 1);
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
}

/**
 * True if a value has about `MAX_PIECE_CHARS` characters at most. Looks at no more of it than
 * these.
 */
function isSmall(value: JsonValue): boolean {
  let left = MAX_PIECE_CHARS;
  const open: (JsonValue | undefined)[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    left -= VALUE_CHARS;
    if (typeof next === "string") left -= next.length;
    else if (Array.isArray(next)) {
      if (next.length * VALUE_CHARS > left) return false;
      for (const element of next) open.push(element);
    } else if (isObject(next)) {
      for (const key in next) {
        left -= key.length;
        if (left < 0) return false;
        open.push(next[key]);
      }
    }
    if (left < 0) return false;
  }
  return true;
}
