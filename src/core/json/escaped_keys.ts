import { findEscapedKeys, type KeyedContainer, type KeySpan } from "./key_scan.ts";
import { endOfString, endOfValue, isBlank, skipBlanks } from "./scan.ts";

const QUOTE = 34, BACKSLASH = 92;

/**
 * True if a JSON text holds a key that is written with an escape. V8 14 may read such a key as
 * another key: it compares the key before unescaping with a key that it has met in the same place
 * of any earlier text or object, and so takes `"a\n"` for the two characters `a\`. One client could
 * change another client's request. `mendEscapedKeys` corrects the keys of such a text. The text
 * must be valid for `JSON.parse`.
 */
export function hasEscapedKey(text: string): boolean {
  const first = text.indexOf("\\");
  // Most texts have fewer colons than escapes: prompts have line breaks, results of tools have
  // quotes.
  let colon = first < 0 ? -1 : text.indexOf(":", first);
  for (; colon >= 0; colon = text.indexOf(":", colon + 1)) {
    let end = colon - 1;
    while (isBlank(text.charCodeAt(end))) end--;
    const isKey = text.charCodeAt(end) === QUOTE && !isEscaped(text, end);
    if (isKey && isEscapedString(text, end)) return true;
  }
  return false;
}

/** True if the quote at this index is a character of a string, and does not begin or end one. */
function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (quote - before) % 2 === 0;
}

/**
 * True if an escape is between the quote at `end`, which is not escaped, and the quote before it.
 * False if the quote at `end` begins a string: there are no escapes between strings.
 */
function isEscapedString(text: string, end: number): boolean {
  for (let at = end - 1; at >= 0; at--) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) return true;
    if (code === QUOTE) return isEscaped(text, at);
  }
  return false;
}

/**
 * Corrects the escaped keys of a value that `JSON.parse` returned for the text; returns the value.
 * Only objects with such a key are visited, and only misread objects are changed. Their values are
 * parsed already and belong to the keys in the order of the text. If the engine merged two keys, a
 * value is lost, and the object is parsed again with its contents. With `exactNumber`, every
 * misread object is parsed again too, because the numbers under a misread key have lost their text;
 * `exactNumber` converts them.
 */
export function mendEscapedKeys<Value>(
  text: string,
  value: Value,
  exactNumber: NumberFrom | null,
): Value {
  const root = findEscapedKeys(text);
  const work: (readonly [KeyedContainer, unknown])[] = [];
  if (root !== null) work.push([root, value]);
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const [container, parsed] = next;
    if (Array.isArray(parsed)) {
      for (const { index, container: one } of container.inner) work.push([one, parsed[index]]);
    } else if (isRecord(parsed)) {
      const read = Object.keys(parsed);
      const right = isInOrder(container, read) ? findMisreadKeys(text, container, read) : null;
      if (right === null || (right.size > 0 && exactNumber !== null)) {
        parseAgain(text, container, parsed, exactNumber ?? Number);
        continue;
      }
      for (const { index, key, container: one } of container.inner) {
        const name = container.escaped.length > 0 ? read[index] : parseKey(text, key);
        work.push([one, parsed[name ?? ""]]);
      }
      if (right.size > 0) {
        replaceMembers(parsed, read.map((key, index) => [right.get(index) ?? key, parsed[key]]));
      }
    }
  }
  return value;
}

type NumberFrom = (text: string) => unknown;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * True if the members of the text can be matched to the parsed keys: their number is equal and, if
 * some may be misread, their order too. Array indexes come first in an object, so the first key
 * shows whether there are any.
 */
function isInOrder({ keys, escaped }: KeyedContainer, read: readonly string[]): boolean {
  return keys === read.length && (escaped.length === 0 || !isArrayIndex(read[0] ?? ""));
}

const MAX_ARRAY_INDEX = 2 ** 32 - 2;

function isArrayIndex(key: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) <= MAX_ARRAY_INDEX;
}

function parseKey(text: string, key: KeySpan | null): string {
  return key === null ? "" : String(JSON.parse(text.slice(key.start, key.end)));
}

/** Returns the correct keys of misread members, by their index in the object. */
function findMisreadKeys(
  text: string,
  { escaped }: KeyedContainer,
  read: readonly string[],
): ReadonlyMap<number, string> {
  const right = new Map<number, string>();
  for (const span of escaped) {
    const key = parseKey(text, span);
    if (read[span.index] !== key) right.set(span.index, key);
  }
  return right;
}

function parseAgain(
  text: string,
  { start, end }: KeyedContainer,
  parsed: Record<string, unknown>,
  numberFrom: NumberFrom,
): void {
  const whole = parseEscapedKeys(text.slice(start, end), numberFrom);
  if (isRecord(whole)) replaceMembers(parsed, Object.entries(whole));
}

/** Replaces all members of an object in place; references to the object stay valid. */
function replaceMembers(
  object: Record<string, unknown>,
  members: readonly (readonly [key: string, value: unknown])[],
): void {
  for (const key of Object.keys(object)) delete object[key];
  for (const [key, value] of members) {
    if (key === "__proto__") {
      const settings = { writable: true, enumerable: true, configurable: true };
      Object.defineProperty(object, key, { value, ...settings });
    } else object[key] = value;
  }
}

interface Container {
  readonly isObject: boolean;
  /** Values parsed so far; array elements have an empty key. */
  readonly entries: [key: string, value: unknown][];
  /** The key of the member that is being read. */
  key: string | null;
}

/**
 * Returns the value that `JSON.parse` should return, with each key unescaped separately.
 * `numberFrom` converts the text of each number. The text must be valid for `JSON.parse`.
 */
function parseEscapedKeys(text: string, numberFrom: NumberFrom): unknown {
  const open: Container[] = [];
  let at = skipBlanks(text, 0);
  for (;;) {
    const inner = open.at(-1);
    const mark = text[at];
    if (mark === "{" || mark === "[") {
      open.push({ isObject: mark === "{", entries: [], key: null });
      at = skipBlanks(text, at + 1);
      continue;
    }
    let value: unknown;
    if (mark === "}" || mark === "]") {
      value = containerValue(open.pop());
      at++;
    } else {
      const start = at;
      at = mark === '"' ? endOfString(text, start) : endOfValue(text, start);
      const token = text.slice(start, at);
      if (mark === '"' && inner?.isObject === true && inner.key === null) {
        inner.key = String(JSON.parse(token));
        at = skipBlanks(text, skipBlanks(text, at) + 1);
        continue;
      }
      value = /^[-\d]/.test(token) ? numberFrom(token) : parseWord(token);
    }
    const outer = open.at(-1);
    if (outer === undefined) return value;
    outer.entries.push([outer.key ?? "", value]);
    outer.key = null;
    at = skipBlanks(text, at);
    if (text[at] === ",") at = skipBlanks(text, at + 1);
  }
}

/** Parses a string, `true`, `false` or `null`. */
function parseWord(token: string): unknown {
  return JSON.parse(token);
}

function containerValue(container: Container | undefined): unknown {
  const { isObject = false, entries = [] } = container ?? {};
  return isObject ? Object.fromEntries(entries) : entries.map(([, value]) => value);
}
