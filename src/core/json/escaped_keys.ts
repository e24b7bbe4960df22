import { findEscapedKeys, type KeyedContainer, type KeySpan } from "./key_scan.ts";
import { endOfString, endOfValue, skipBlanks } from "./scan.ts";

/**
 * Whether a JSON text holds a key that is written with an escape. V8 14 may read such a key as
 * another one: it compares what is not unescaped yet with a key that it has met in the same place of
 * any text or object before, and so takes `"a\n"` for the two characters `a\`. One caller could change
 * what another one says. So the keys of such a text are mended by `mendEscapedKeys`.
 */
export function hasEscapedKey(text: string): boolean {
  let quote = 0;
  for (let at = text.indexOf("\\"); at >= 0;) {
    const behind = at + 2;
    if (quote < behind) quote = text.indexOf('"', behind);
    if (quote < 0) return false;
    at = text.indexOf("\\", behind);
    // The last escape of a string: the next quote ends it.
    if ((at < 0 || quote < at) && text[skipBlanks(text, quote + 1)] === ":") return true;
  }
  return false;
}

/**
 * Corrects the keys of a value that `JSON.parse` gave for the text, where they are written with
 * escapes; returns the value. Only objects that hold such a key are looked at, and only those that
 * were misread are changed: their values are already read, and belong to the keys in the order of the
 * text. Where the engine has made two keys one, a value is lost, and that object is read again with
 * everything in it. So is every misread object where `exactNumber` is given, because what lies under a
 * misread key has lost the text of its numbers: they become what `exactNumber` makes of it.
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
 * True if each member of the text can be found among the keys that were read: as many as there are
 * members, and, where some may be misread, in the order of the text. Array indexes come first in an
 * object, so the first key shows whether there are any.
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

/** The right keys of members that were read under another one, by their place in the object. */
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

/** Gives an object these members and no others; it stays the same object for what holds it. */
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
  /** Values so far; those of an array have no key. */
  readonly entries: [key: string, value: unknown][];
  /** The key of the member that is being read. */
  key: string | null;
}

/**
 * The value that `JSON.parse` should give, with each key unescaped on its own. Numbers become what
 * `numberFrom` makes of their text. The text must be one that `JSON.parse` accepts.
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

/** A string, `true`, `false` or `null`. */
function parseWord(token: string): unknown {
  return JSON.parse(token);
}

function containerValue(container: Container | undefined): unknown {
  const { isObject = false, entries = [] } = container ?? {};
  return isObject ? Object.fromEntries(entries) : entries.map(([, value]) => value);
}
