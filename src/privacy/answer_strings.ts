import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { type Edit, replaceValue, type Span } from "../formats/edit.ts";
import { type JsonPath, memberOf, textOfString, walkJson } from "./json_strings.ts";

/** Place of a string in the JSON text of an answer, with its quotes, valid while it is visited. */
export interface StringPlace extends Span {
  /** Keys and indexes that lead to the string; for a key, to its value. */
  readonly path: JsonPath;
  /** The nearest object that holds the string; null if none does. */
  readonly parent: JsonObject | null;
  /** True for the key of a member. */
  readonly isKey: boolean;
}

type Visit = (string: string, place: StringPlace) => void;

/**
 * Calls `visit` for each string of a JSON text, keys among them, in the order of the text. `value`
 * is the value of the text.
 */
export function visitStrings(text: string, value: JsonValue, visit: Visit): void {
  const walk = walkStrings(text, value, visit);
  while (walk.next().done !== true) { /* the whole text */ }
}

/** The same, which can be interrupted. */
export function walkStrings(
  text: string,
  value: JsonValue,
  visit: Visit,
): Generator<void, void, void> {
  return walkJson(text, ({ kind, start, end }, path) => {
    if (kind === "number") return;
    const parent = findParent(value, path);
    visit(textOfString(text, start, end), { path, parent, isKey: kind === "name", start, end });
  });
}

function findParent(root: JsonValue, path: JsonPath): JsonObject | null {
  let parent: JsonObject | null = null;
  let value: JsonValue | undefined = root;
  for (const step of path) {
    if (isObject(value)) parent = value;
    value = memberOf(value, step);
  }
  return parent;
}

/** Returns the edit that replaces a string literal. */
export function replaceString(literal: Span, text: string): Edit {
  return replaceValue(literal, JSON.stringify(text));
}
