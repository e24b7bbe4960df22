import { hasEscapedKey, mendEscapedKeys } from "./escaped_keys.ts";

/** Any JSON value as `JSON.parse` gives it. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object as `JSON.parse` gives it; a missing member reads as undefined. */
export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

/** A member of a JSON object in its text: `text.slice(start, end)` is the value. */
export interface Member {
  readonly key: string;
  /** Where the quote of the key stands. */
  readonly keyStart: number;
  readonly start: number;
  readonly end: number;
}

/** A JSON object together with the text it was read from, so that what need not change keeps its text. */
export interface JsonDocument {
  readonly text: string;
  /** The text in UTF-8, where it was received as that. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly value: JsonObject;
  /** The top level of the text, in order; every key once. */
  readonly members: readonly Member[];
}

/** The value of a JSON text; undefined when it is none. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text);
    return hasEscapedKey(text) ? mendEscapedKeys(text, value, null) : value;
  } catch {
    return undefined;
  }
}

/** Tells an object from arrays, null, numbers that keep their text and everything else. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !JSON.isRawJSON(value);
}

/** More levels than this are not translated: what walks a value would run out of stack. */
export const MAX_LEVELS = 500;

/** Whether a value has more levels of arrays and objects than can be translated. */
export function isTooDeep(value: JsonValue | undefined): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= MAX_LEVELS) return true;
    level = level.flatMap((item) =>
      Array.isArray(item)
        ? item.filter(isNested)
        : isObject(item)
        ? Object.values(item).filter(isNested)
        : []
    );
  }
  return false;
}

function isNested(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

declare global {
  // Both are in the engine and not yet in the library types.
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): JsonValue;
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}

/** Sixteen digits, an exponent, a trailing zero behind the point, a negative or a tiny one: may be written otherwise. */
const MAY_CHANGE = /\d[\d.]{15}|\d[eE]|\.\d*0(?!\d)|-0(?![.\d])|0\.000000/;

/**
 * The value of a JSON text in which each number that JavaScript would write otherwise (1.0,
 * 12345678901234567890) is an opaque value that `JSON.stringify` writes as it was read. Undefined
 * when the text is no JSON. Ask `numberOf` for figures. A value that `isTooDeep` is as parsed.
 */
export function parseExact(text: string): JsonValue | undefined {
  const value = parseJson(text);
  if (value === undefined || !MAY_CHANGE.test(text) || isTooDeep(value)) return value;
  const exact: unknown = JSON.parse(
    text,
    (_key, item, { source }) =>
      typeof item === "number" && source !== undefined ? exactNumber(source) : item,
  );
  if (!isJson(exact)) return value;
  return hasEscapedKey(text) ? mendEscapedKeys(text, exact, exactNumber) : exact;
}

function exactNumber(text: string): JsonValue {
  const number = Number(text);
  return String(number) === text ? number : JSON.rawJSON(text);
}

function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}

/** A number as JavaScript understands it, also when its text is kept; null for anything else. */
export function numberOf(value: unknown): number | null {
  if (typeof value === "number") return value;
  return JSON.isRawJSON(value) ? Number(value.rawJSON) : null;
}
