import { endOfString, skipBlanks } from "./scan.ts";

const QUOTE = 34, COLON = 58, COMMA = 44;
const OPEN_ARRAY = 91, CLOSE_ARRAY = 93, OPEN_OBJECT = 123, CLOSE_OBJECT = 125;

/** Position of a key in a JSON text: `text.slice(start, end)` is the key with its quotes. */
export interface KeySpan {
  /** Index of the member in the object. */
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** A container inside a container; `key` is the position of its key, null in an array. */
export interface InnerContainer {
  readonly index: number;
  readonly key: KeySpan | null;
  readonly container: KeyedContainer;
}

/**
 * An object or array in a JSON text that holds an escaped key, directly or in a nested container.
 */
export interface KeyedContainer {
  readonly start: number;
  readonly end: number;
  /** Number of members in the text of an object, including repeated keys. */
  readonly keys: number;
  /** The object's keys that are written with an escape, without those of nested objects. */
  readonly escaped: readonly KeySpan[];
  readonly inner: readonly InnerContainer[];
}

interface OpenContainer {
  readonly start: number;
  keys: number;
  escaped: KeySpan[] | null;
  inner: InnerContainer[] | null;
  /** Index of the current value, and the position of its key. */
  index: number;
  keyStart: number;
  keyEnd: number;
}

const NONE: readonly never[] = [];

/**
 * Finds the containers that lead to escaped keys, in one pass over the text. Returns the outermost
 * container, or null if no key is escaped. The text must be valid for `JSON.parse`.
 */
export function findEscapedKeys(text: string): KeyedContainer | null {
  const open: OpenContainer[] = [];
  let current: OpenContainer | undefined;
  let escape = text.indexOf("\\");
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      const behind = skipBlanks(text, end);
      if (current !== undefined && text.charCodeAt(behind) === COLON) {
        // The next backslash is searched once, not again for every key.
        if (escape >= 0 && escape < at) escape = text.indexOf("\\", at);
        addKey(current, at, end, escape >= 0 && escape < end);
      }
      at = behind;
      continue;
    }
    at++;
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      current = newContainer(at - 1);
      open.push(current);
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      const closed = toKeyedContainer(open.pop(), at);
      current = open.at(-1);
      if (current === undefined) return closed;
      if (closed !== null) addInner(current, closed);
    } else if (code === COMMA && current !== undefined) {
      current.index++;
    }
  }
  return null;
}

function newContainer(start: number): OpenContainer {
  return { start, keys: 0, escaped: null, inner: null, index: 0, keyStart: 0, keyEnd: 0 };
}

function addKey(container: OpenContainer, start: number, end: number, isEscaped: boolean): void {
  container.keys++;
  container.keyStart = start;
  container.keyEnd = end;
  if (isEscaped) (container.escaped ??= []).push({ index: container.index, start, end });
}

function addInner(outer: OpenContainer, container: KeyedContainer): void {
  const { index, keys, keyStart: start, keyEnd: end } = outer;
  const key = keys === 0 ? null : { index, start, end };
  (outer.inner ??= []).push({ index, key, container });
}

function toKeyedContainer(
  container: OpenContainer | undefined,
  end: number,
): KeyedContainer | null {
  if (container === undefined) return null;
  const { start, keys, escaped, inner } = container;
  if (escaped === null && inner === null) return null;
  return { start, end, keys, escaped: escaped ?? NONE, inner: inner ?? NONE };
}
