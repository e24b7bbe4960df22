import type { JsonObject } from "../core/json/json.ts";
import { type Objects, textOfString, walkJson } from "./json_strings.ts";

/** Members that say how other members of their object are read. */
const DESCRIBING: ReadonlySet<string> = new Set(
  "annotations arguments document_index input parameters role signature text type".split(" "),
);

/** Characters of a describing string that are looked at: longer ones are no words of a protocol. */
const MAX_READ_CHARS = 256;

/**
 * Returns the objects of a JSON text in their order, with their describing members alone: of a
 * string its beginning, of an object or a list that it is there. Unlike the value of the text they
 * are found in pieces.
 */
export function* readObjects(text: string): Generator<void, readonly JsonObject[], void> {
  const found: JsonObject[] = [];
  const objects: Objects = {
    open(_step, isList) {
      if (isList) return null;
      const object = {};
      found.push(object);
      return object;
    },
    close: () => {},
  };
  yield* walkJson(text, ({ kind, start, end }, path, parents) => {
    const key = path[path.length - 1];
    const object = parents[parents.length - 1];
    // An element of a list has a number.
    if (typeof key !== "string" || !DESCRIBING.has(key)) return;
    if (object === null || object === undefined) return;
    if (kind === "name") object[key] = true;
    else if (kind === "number") object[key] = Number(text.slice(start, end));
    else {
      const isShort = end - start <= MAX_READ_CHARS;
      object[key] = isShort
        ? textOfString(text, start, end)
        : text.slice(start + 1, start + MAX_READ_CHARS);
    }
  }, objects);
  return found;
}

/** Returns the objects of a walk as `readObjects` has found them; nothing is known of others. */
export function knownObjects(found: readonly JsonObject[]): Objects {
  let count = 0;
  return {
    open: (_step, isList) => isList ? null : found[count++] ?? {},
    close: () => {},
  };
}
