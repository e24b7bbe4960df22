import { endOfString, endOfValue, skipBlanks } from "../core/json/scan.ts";

/** What is nested deeper than this is no usual request, and would only take memory. */
const MAX_DEPTH = 1_000;

interface Container {
  readonly isObject: boolean;
  /** Values so far, each behind its key when it is a member of an object. */
  readonly items: Item[];
  /** The key of the member that is being read. */
  key: string;
}

interface Item {
  readonly key: string;
  readonly text: string;
}

/**
 * A JSON text in the one form that all texts of the same meaning share: no white space, the members
 * of objects sorted, strings with the least escapes. Numbers keep their text, and of a key that comes
 * twice both members stay, in order: what one reader may tell apart stays apart. The text must be one
 * that `JSON.parse` accepts; null when it is nested too deeply.
 */
export function canonicalJson(text: string): string | null {
  const open: Container[] = [];
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

/** Built by adding, not by joining: each depth would copy all that is inside. */
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
