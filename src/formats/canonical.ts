import { endOfString, endOfValue, skipBlanks } from "../core/json/scan.ts";

/** Nesting limit: no usual request is nested deeper, and such a text would only take memory. */
const MAX_DEPTH = 1_000;

/**
 * Maximum number of steps, so that no text takes long in one piece: an element is one, a member,
 * which is sorted by its key, ten.
 */
const MAX_STEPS = 200_000, MEMBER_STEPS_COUNT = 10;

interface Container {
  readonly isObject: boolean;
  /** Values parsed so far, with their key if they are members of an object. */
  readonly items: { readonly key: string; readonly text: string }[];
  /** The key of the member that is being read. */
  key: string;
}

/**
 * Returns canonical JSON for cache keys: no white space, sorted members, minimal escapes. Numbers
 * keep their text and duplicate keys are preserved, so two requests that any parser could
 * distinguish never share a key. The text must be valid for `JSON.parse`; null if it is nested too
 * deeply, or has too many members and elements.
 */
export function canonicalJson(text: string): string | null {
  const open: Container[] = [];
  let steps = 0;
  let at = skipBlanks(text, 0);
  for (;;) {
    let value: string | null = null;
    const mark = text[at];
    if (mark === "{" || mark === "[") {
      if (open.length === MAX_DEPTH) return null;
      open.push({ isObject: mark === "{", items: [], key: "" });
      at++;
    } else if (mark === "}" || mark === "]") {
      value = writeContainer(open.pop());
      at++;
    } else {
      const end = endOfValue(text, at);
      value = mark === '"' ? normalizeString(text.slice(at, end)) : text.slice(at, end);
      at = end;
    }
    const container = open.at(-1);
    if (value !== null) {
      if (container === undefined) return value;
      steps += container.isObject ? MEMBER_STEPS_COUNT : 1;
      if (steps > MAX_STEPS) return null;
      container.items.push({ key: container.key, text: value });
    }
    at = skipBlanks(text, at);
    if (text[at] === ",") at = skipBlanks(text, at + 1);
    if (container?.isObject === true && text[at] === '"') {
      const end = endOfString(text, at);
      container.key = normalizeString(text.slice(at, end));
      at = skipBlanks(text, skipBlanks(text, end) + 1);
    }
  }
}

/**
 * Returns the text of a container. Concatenation avoids a copy of the nested text at every depth,
 * which joining would make.
 */
function writeContainer(container: Container | undefined): string {
  if (container === undefined) return "";
  const { isObject, items } = container;
  // Sorting is stable: members of the same key stay in order.
  if (isObject) items.sort((a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
  let text = isObject ? "{" : "[";
  for (const [index, item] of items.entries()) {
    if (index > 0) text += ",";
    text += isObject ? `${item.key}:${item.text}` : item.text;
  }
  return text + (isObject ? "}" : "]");
}

function normalizeString(text: string): string {
  return text.includes("\\") ? JSON.stringify(JSON.parse(text)) : text;
}
