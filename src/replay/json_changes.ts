import { isObject, type JsonValue } from "../core/json/json.ts";

/** A place at which two JSON values differ. */
export interface JsonChange {
  /** Path with the indexes of lists as `[]`; `$` for the whole value. */
  readonly path: string;
  /** Undefined where the value is absent. */
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** Maximum number of paths that are listed; a further change is at the path of the whole value. */
const MAX_PATHS = 50;

/** Path of the whole value. */
const WHOLE = "$";

/** Maximum depth to which values are compared by path; deeper ones are compared as a whole. */
const MAX_DEPTH = 100;

/** A member whose name needs no quotation marks in a path. */
const PLAIN_NAME = /^[A-Za-z_][\w-]*$/;

/**
 * Returns the places at which two values differ, in the order of their texts: of each path the
 * first one, because the same change at each message is one.
 */
export function jsonChanges(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): readonly JsonChange[] {
  const found = new Map<string, JsonChange>();
  collect(before, after, "", 0, found);
  return [...found.values()];
}

function collect(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  path: string,
  depth: number,
  found: Map<string, JsonChange>,
): void {
  if (before === after) return;
  if (depth < MAX_DEPTH && Array.isArray(before) && Array.isArray(after)) {
    // Items are compared by their place: what is inserted changes all that follows.
    for (let at = 0; at < Math.max(before.length, after.length); at++) {
      collect(before[at], after[at], `${path}[]`, depth + 1, found);
    }
    return;
  }
  if (depth < MAX_DEPTH && isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      collect(own(before, name), own(after, name), memberPath(path, name), depth + 1, found);
    }
    return;
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  const listed = path !== "" && (found.has(path) || found.size < MAX_PATHS) ? path : WHOLE;
  if (!found.has(listed)) found.set(listed, { path: listed, before, after });
}

function own(object: { [name: string]: JsonValue | undefined }, name: string) {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function memberPath(path: string, name: string): string {
  if (!PLAIN_NAME.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}

/** Returns the type of a value, which is no content. */
export function shapeOf(value: JsonValue | undefined): string {
  if (value === undefined) return "absent";
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  return isObject(value) ? "object" : typeof value;
}

/** Returns a field path with the indexes of lists as `[]`. */
export function withoutIndexes(path: string): string {
  return path.replace(/\[\d+\]|\.\d+(?=\.|$)/g, "[]");
}
