import { isObject, type JsonObject, type JsonValue, parseJson } from "../core/json/json.ts";
import { endOfString } from "../core/json/scan.ts";
import type { Edit } from "./edit.ts";

/** Place of a string in a JSON text, valid while it is visited. */
export interface StringPlace {
  /** Keys and indexes of the containers that hold the string, with that of the string itself. */
  readonly path: readonly (string | number)[];
  /** The object that holds the string, or the list that does; null for a lone string. */
  readonly parent: JsonObject | null;
  /** True for the key of a member. */
  readonly isKey: boolean;
  /** The literal with its quotes: `text.slice(start, end)`. */
  readonly start: number;
  readonly end: number;
}

const QUOTE = 34, COMMA = 44, COLON = 58;
const OPEN_ARRAY = 91, CLOSE_ARRAY = 93, OPEN_OBJECT = 123, CLOSE_OBJECT = 125;

/**
 * Calls `visit` for each string of a JSON text, keys among them, in the order of the text. `value`
 * is the value of the text.
 */
export function visitStrings(
  text: string,
  value: JsonValue,
  visit: (string: string, place: StringPlace) => void,
): void {
  const path: (string | number)[] = [];
  const containers: (JsonValue | undefined)[] = [];
  const parents: (JsonObject | null)[] = [null];
  let isKeyNext = false;

  function child(): JsonValue | undefined {
    if (containers.length === 0) return value;
    const [container, step] = [containers.at(-1), path.at(-1)];
    if (Array.isArray(container)) return typeof step === "number" ? container[step] : undefined;
    return isObject(container) && typeof step === "string" ? container[step] : undefined;
  }

  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        const string = parseString(text.slice(at, end));
        if (isKeyNext) path[path.length - 1] = string;
        visit(string, {
          path,
          parent: parents.at(-1) ?? null,
          isKey: isKeyNext,
          start: at,
          end,
        });
        at = end - 1;
        break;
      }
      case OPEN_OBJECT:
      case OPEN_ARRAY: {
        const opened = child();
        const isList = text.charCodeAt(at) === OPEN_ARRAY;
        containers.push(opened);
        parents.push(isObject(opened) ? opened : parents.at(-1) ?? null);
        path.push(isList ? 0 : "");
        isKeyNext = !isList;
        break;
      }
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        containers.pop();
        parents.pop();
        path.pop();
        isKeyNext = false;
        break;
      case COLON:
        isKeyNext = false;
        break;
      case COMMA: {
        const step = path.at(-1);
        if (typeof step === "number") path[path.length - 1] = step + 1;
        isKeyNext = typeof step === "string";
        break;
      }
    }
  }
}

function parseString(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  const parsed = parseJson(literal);
  return typeof parsed === "string" ? parsed : "";
}

/** Returns the edit that replaces a string literal. */
export function replaceString({ start, end }: StringPlace, text: string): Edit {
  return { start, end, text: JSON.stringify(text) };
}
