import { ownText } from "../text_beginning.ts";
import { hasEscapedKey, mendEscapedKeys } from "./escaped_keys.ts";
import { hasMoreItems } from "./scan.ts";

/** Any JSON value as `JSON.parse` returns it. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object as `JSON.parse` returns it; a missing member reads as undefined. */
export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

/** Position of a member in the text of a JSON object: `text.slice(start, end)` is the value. */
export interface Member {
  readonly key: string;
  /** Index of the opening quote of the key. */
  readonly keyStart: number;
  readonly start: number;
  readonly end: number;
}

/** A JSON object together with its text, which has the numbers as they were written. */
export interface JsonText {
  readonly text: string;
  readonly value: JsonObject;
}

/** A JSON object whose unchanged parts can be sent with their original text. */
export interface JsonDocument extends JsonText {
  /** The text as received UTF-8 bytes; absent if it was not received so. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  /** Top-level members in the order of the text; each key occurs once. */
  readonly members: readonly Member[];
}

/** Returns the value of a JSON text; undefined if the text is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text);
    return hasEscapedKey(text) ? mendEscapedKeys(text, value, null) : value;
  } catch {
    return undefined;
  }
}

/** True if the value is a JSON object: no array, null or number that keeps its text (raw JSON). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !JSON.isRawJSON(value);
}

/** True for a text that is not empty. */
export function isFilledText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Returns the objects of a list; none for any other value. */
export function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Nesting limit of values to translate: recursive functions would overflow the stack. */
export const MAX_LEVELS = 500;

/** True if a value has more than `MAX_LEVELS` levels of arrays and objects. */
export function isTooDeep(value: JsonValue | undefined): boolean {
  return hasMoreLevels(value, MAX_LEVELS);
}

function hasMoreLevels(value: JsonValue | undefined, levels: number): boolean {
  // Most values of a large text are numbers and strings, for which a call would take longer.
  if (Array.isArray(value)) {
    if (levels === 0) return true;
    for (const item of value) {
      if (typeof item === "object" && hasMoreLevels(item, levels - 1)) return true;
    }
  } else if (isObject(value)) {
    if (levels === 0) return true;
    for (const key in value) {
      const item = value[key];
      if (typeof item === "object" && hasMoreLevels(item, levels - 1)) return true;
    }
  }
  return false;
}

declare global {
  // Both functions are in the engine but not yet in the library types.
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): JsonValue;
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}

/**
 * Matches texts with numbers that `JSON.stringify` may write differently: sixteen digits, an
 * exponent, a trailing zero after the point, a negative zero or a tiny number.
 */
const MAY_CHANGE = /(?<![\d.])\d[\d.]{15}|\d[eE]|\.\d*0(?!\d)|-0(?![.\d])|0\.000000/;

/**
 * Matches texts in which such a number is where a value begins. It is slower, but most texts that
 * `MAY_CHANGE` matches have an ID in hexadecimal instead, whose parsing would take six times as
 * long.
 */
const VALUE_MAY_CHANGE =
  /(?:^|[:,[])\s*-?(?:\d[\d.]{15}|[\d.]+[eE]|\d+\.\d*0(?!\d)|(?<=-)0(?![.\d])|0\.000000)/;

/**
 * Maximum number of members and elements of a text whose numbers are kept as written, for which
 * each takes 1 µs.
 */
const MAX_EXACT_ITEMS = 200_000;

/**
 * Returns the value of a JSON text. Each number that JavaScript would write differently (1.0,
 * 12345678901234567890) becomes raw JSON, which `JSON.stringify` writes as received; `numberOf`
 * returns its number. Undefined if the text is not JSON. A value that `isTooDeep`, or that has more
 * than `MAX_EXACT_ITEMS`, is returned as parsed. `value` is what `parseJson` has returned for the
 * text, if it is parsed already: without such a number it is returned.
 */
export function parseExact(text: string, value = parseJson(text)): JsonValue | undefined {
  const hasTooMany = () => hasMoreItems(text, MAX_EXACT_ITEMS);
  // The expressions take long for a text of very many numbers, which take two characters or more.
  if (value === undefined || (text.length > 2 * MAX_EXACT_ITEMS && hasTooMany())) return value;
  if (!MAY_CHANGE.test(text) || !VALUE_MAY_CHANGE.test(text)) return value;
  if (isTooDeep(value) || hasTooMany()) return value;
  const exact: unknown = JSON.parse(
    text,
    (_key, item, { source }) =>
      typeof item === "number" && source !== undefined ? exactNumber(source) : item,
  );
  if (!isJson(exact)) return value;
  return hasEscapedKey(text) ? mendEscapedKeys(text, exact, exactNumber) : exact;
}

/** Length up to which V8 copies a part of a text. */
const MAX_COPIED_CHARS = 12;

/**
 * Returns the number of a JSON text as `parseExact` does. A stored number with a longer text must
 * not hold the whole request that it came with.
 */
export function exactNumber(text: string): JsonValue {
  const number = Number(text);
  if (String(number) === text) return number;
  return JSON.rawJSON(text.length > MAX_COPIED_CHARS ? ownText(text) : text);
}

function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}

/** Returns a JSON number as a JavaScript number, also from raw JSON; null for any other value. */
export function numberOf(value: unknown): number | null {
  if (typeof value === "number") return value;
  return JSON.isRawJSON(value) ? Number(value.rawJSON) : null;
}
