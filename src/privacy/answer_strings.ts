import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import type { Edit } from "../formats/edit.ts";
import { textOfString, walkJson } from "./json_strings.ts";

/** Place of a string in the JSON text of an answer, valid while it is visited. */
export interface StringPlace {
  /** Keys and indexes that lead to the string; for a key, to its value. */
  readonly path: readonly (string | number)[];
  /** The nearest object that holds the string; null if none does. */
  readonly parent: JsonObject | null;
  /** True for the key of a member. */
  readonly isKey: boolean;
  /** The literal with its quotes: `text.slice(start, end)`. */
  readonly start: number;
  readonly end: number;
}

/**
 * Calls `visit` for each string of a JSON text, keys among them, in the order of the text. `value`
 * is the value of the text.
 */
export function visitStrings(
  text: string,
  value: JsonValue,
  visit: (string: string, place: StringPlace) => void,
): void {
  const walk = walkJson(text, ({ kind, start, end }, path) => {
    if (kind === "number") return;
    const parent = findParent(value, path);
    visit(textOfString(text, start, end), { path, parent, isKey: kind === "name", start, end });
  });
  while (walk.next().done !== true) { /* the whole text */ }
}

function findParent(root: JsonValue, path: StringPlace["path"]): JsonObject | null {
  let parent: JsonObject | null = null;
  let value: JsonValue | undefined = root;
  for (const step of path) {
    if (isObject(value)) parent = value;
    value = isObject(value) ? value[step] : Array.isArray(value) ? value[Number(step)] : undefined;
  }
  return parent;
}

/** Returns the edit that replaces a string literal. */
export function replaceString(
  { start, end }: Pick<StringPlace, "start" | "end">,
  text: string,
): Edit {
  return { start, end, text: JSON.stringify(text) };
}
