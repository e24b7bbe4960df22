import type { Report } from "./report.ts";
import { membersOf, type Tree } from "./source.ts";

/** Members of a source without a counterpart by their names, with the reason. */
export type Absent = Readonly<Record<string, string>>;

/** Reports the members of a mapping that have no counterpart. */
export function reportAbsent(
  tree: Tree | undefined,
  report: Report,
  missing: Absent,
  noMeaning: Absent = {},
): void {
  for (const [key, value] of membersOf(tree)) {
    if (Object.hasOwn(noMeaning, key)) report.noMeaning(value, noMeaning[key] ?? "");
    if (Object.hasOwn(missing, key)) report.missing(value, missing[key] ?? "");
  }
}
