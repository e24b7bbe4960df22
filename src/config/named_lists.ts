import { isObject, type JsonObject } from "../core/json/json.ts";
import { likelyHint, type Path, type Problem, problem } from "./problems.ts";

/** A mapping of a list, with its index. */
export type Item = readonly [index: number, item: JsonObject];

/** Rule for the name of a template, as the text of a problem. */
export const A_TEMPLATE = "the name of a template";

/** Returns the mappings in a list, with their indices. */
export function objectsIn(list: unknown): Item[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown, index) => isObject(item) ? [[index, item] as const] : []);
}

/** Returns the names of the mappings that have one. */
export function namesOf(items: readonly Item[]): string[] {
  return items.flatMap(([, { name }]) => typeof name === "string" ? [name] : []);
}

/** Returns a problem for each text that an earlier path has too. */
export function repeated(
  values: readonly (readonly [path: Path, value: unknown])[],
  text: string,
): Problem[] {
  const seen = new Set<string>();
  return values.flatMap(([path, value]): Problem[] => {
    if (typeof value !== "string") return [];
    const isRepeated = seen.has(value);
    seen.add(value);
    return isRepeated ? [problem(path, text)] : [];
  });
}

/**
 * Returns a problem for each name that is not known. `member` is the last part of the path for a
 * name that is in no list.
 */
export function unknownNames(
  written: unknown,
  path: Path,
  known: readonly string[],
  what: string,
  member?: string,
): Problem[] {
  if (!Array.isArray(written)) return [];
  return written.flatMap((name: unknown, index): Problem[] => {
    if (typeof name !== "string" || name.trim() === "" || known.includes(name)) return [];
    return [problem([...path, member ?? index], `is not ${what}${likelyHint(name, known)}`)];
  });
}
