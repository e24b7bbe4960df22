import { type Leaf, leavesOf, memberOf, textOf, type Tree } from "./source.ts";
import { isUnnamed, UNNAMED } from "./variables.ts";

/**
 * Result of the import of a value. `differently` works, but not in the same way; `missing` is
 * what a client or an operator would notice; `no meaning` concerns only the other program.
 */
export type Status = "carried" | "differently" | "missing" | "no meaning";

/** Every status, in the order of the sum at the end of a report. */
const STATUSES: readonly Status[] = ["carried", "differently", "missing", "no meaning"];

/** One value of the source in the report. Neither member has any value of the source. */
export interface ReportLine {
  readonly path: string;
  readonly status: Status;
  /** Paths in the file that is written. */
  readonly to: readonly string[];
  readonly note: string;
}

/** Collects what became of each value of a source. */
export interface Report {
  /** Reports every value within `tree` that has no line yet. */
  say(tree: Tree | undefined, status: Status, to?: string | readonly string[], note?: string): void;
  /** Reports a value as carried, with a note of how it works differently as that. */
  noted(tree: Tree | undefined, to: string | readonly string[], note: string): void;
  carried(tree: Tree | undefined, to: string | readonly string[], note?: string): void;
  differently(tree: Tree | undefined, to: string | readonly string[], note: string): void;
  missing(tree: Tree | undefined, note: string): void;
  noMeaning(tree: Tree | undefined, note: string): void;
  /** Reports known members that were not read: their values are empty or not understood. */
  notRead(tree: Tree | undefined, keys: readonly string[]): void;
  /** Returns one line for each value of the source in its order; the rest is missing. */
  lines(): readonly ReportLine[];
}

/** Returns a report about a source. */
export function newReport(root: Tree, replaced: readonly string[]): Report {
  const leaves = leavesOf(root);
  const found = new Map<Leaf, ReportLine>();

  function say(
    tree: Tree | undefined,
    status: Status,
    to: string | readonly string[] = [],
    note = "",
  ): void {
    if (tree === undefined) return;
    const places = typeof to === "string" ? [to] : to;
    for (const leaf of leavesOf(tree)) {
      if (found.has(leaf)) continue;
      const { path } = leaf;
      found.set(
        leaf,
        leaf.value === null && status !== "missing"
          ? { path, status: "no meaning", to: [], note: "empty" }
          : { path, status, to: places, note },
      );
    }
  }

  return {
    say,
    noted: (tree, to, note) => say(tree, note === "" ? "carried" : "differently", to, note),
    carried: (tree, to, note) => say(tree, "carried", to, note),
    differently: (tree, to, note) => say(tree, "differently", to, note),
    missing: (tree, note) => say(tree, "missing", [], note),
    noMeaning: (tree, note) => say(tree, "no meaning", [], note),
    notRead(tree, keys) {
      for (const key of keys) {
        const member = memberOf(tree, key);
        const isEmpty = member?.kind === "leaf" && (member.value === null || member.value === "");
        if (isEmpty) say(member, "no meaning", [], "empty");
        else say(member, "missing", [], "a value that is not understood");
      }
    },
    lines: () => [
      ...leaves.map((leaf) => {
        const line = found.get(leaf);
        if (line === undefined) {
          return { path: leaf.path, status: "missing", to: [], note: "unknown key" } as const;
        }
        const { status, note } = line;
        const isRenamed = /carried|differently/.test(status) && isUnnamed(textOf(leaf) ?? "");
        return isRenamed
          ? {
            ...line,
            status: "differently",
            note: [UNNAMED, note].filter(Boolean).join("; "),
          } as const
          : line;
      }),
      ...replaced.map((path) => ({
        path: `${path} (the earlier one)`,
        status: "no meaning" as const,
        to: [],
        note: "the key comes twice, and its last value counts",
      })),
    ],
  };
}

/** Returns the report as text: a line for each value, its note below it, and the sum. */
export function reportText(lines: readonly ReportLine[]): string {
  const written = lines.flatMap(({ path, status, to, note }) => [
    `${status.padEnd(12)} ${path}${to.length === 0 ? "" : ` → ${to.join(", ")}`}`,
    ...note === "" ? [] : [`${" ".repeat(13)}${note}`],
  ]);
  return [...written, `${sumText(lines)}.`, ""].join("\n");
}

function sumText(lines: readonly ReportLine[]): string {
  return STATUSES.map((status) =>
    `${lines.filter((line) => line.status === status).length} ${status}`
  ).join(", ");
}
