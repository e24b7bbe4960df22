import { parse } from "yaml";

/**
 * Returns the paths of all values of a configuration file as a report names them: `[0]` and `[]`
 * for an item of a list, `providers.*` for any provider.
 */
export function placesIn(file: string): ReadonlySet<string> {
  const found = new Set<string>();

  function add(value: unknown, paths: readonly string[]): void {
    for (const path of paths) found.add(path);
    if (typeof value !== "object" || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      const ends = Array.isArray(value) ? [`[${key}]`, "[]"] : [`.${key}`];
      const all = paths.flatMap((path) => ends.map((end) => `${path}${end}`.replace(/^\./, "")));
      add(member, paths.includes("providers") ? [...all, "providers.*"] : all);
    }
  }

  add(parse(file), [""]);
  return found;
}
