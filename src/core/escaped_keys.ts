import type { JsonValue } from "./json.ts";
import { endOfString, endOfValue, skipBlanks } from "./scan.ts";

/**
 * Whether a JSON text holds a key that is written with an escape. V8 14 may read such a key as
 * another one: it compares what is not unescaped yet with a key that it has met in the same place of
 * any text or object before, and so takes `"a\n"` for the two characters `a\`. One caller could change
 * what another one says. So the value of such a text is not taken from it, but from `readEscapedKeys`.
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

interface Container {
  readonly isObject: boolean;
  /** Values so far; those of an array have no key. */
  readonly entries: [key: string, value: JsonValue][];
  /** The key of the member that is being read. */
  key: string | null;
}

/**
 * The value that `JSON.parse` should give, with each key unescaped on its own. Numbers become what
 * `numberFrom` makes of their text. The text must be one that `JSON.parse` accepts.
 */
export function readEscapedKeys(text: string, numberFrom: (text: string) => JsonValue): JsonValue {
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
    let value: JsonValue;
    if (mark === "}" || mark === "]") {
      value = closed(open.pop());
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
      value = /^[-\d]/.test(token) ? numberFrom(token) : wordFrom(token);
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
function wordFrom(token: string): JsonValue {
  return JSON.parse(token);
}

function closed(container: Container | undefined): JsonValue {
  const { isObject = false, entries = [] } = container ?? {};
  return isObject ? Object.fromEntries(entries) : entries.map(([, value]) => value);
}
