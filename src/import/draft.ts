import type { Report } from "./report.ts";
import type { Tree } from "./source.ts";
import type { Variables } from "./variables.ts";
import type { Part, Written } from "./written_file.ts";

/** Settings of the written file by section and key, with the paths that they came from. */
export interface Draft {
  readonly report: Report;
  readonly variables: Variables;
  /** Sets a key of a section; a later value of the same key replaces an earlier one. */
  set(section: string, key: string, value: Written, from: string): void;
  /** Adds a line to the comment at the top of the written file. */
  remark(line: string): void;
  remarks(): readonly string[];
  /** Returns the sections with these names, in this order, without empty ones. */
  sections(names: readonly string[]): readonly Part[];
}

interface Found {
  readonly values: Map<string, Written>;
  readonly from: string[];
}

/** Returns a draft without settings. */
export function newDraft(report: Report, variables: Variables): Draft {
  const found = new Map<string, Found>();
  const remarks: string[] = [];
  return {
    report,
    variables,
    set(section, key, value, from) {
      const empty: Found = { values: new Map(), from: [] };
      const one = found.get(section) ?? empty;
      one.values.set(key, value);
      if (!one.from.includes(from)) one.from.push(from);
      found.set(section, one);
    },
    remark: (line) => void remarks.push(line),
    remarks: () => remarks,
    sections: (names) =>
      names.flatMap((key) => {
        const one = found.get(key);
        return one === undefined
          ? []
          : [{ key, from: one.from, value: Object.fromEntries(one.values) }];
      }),
  };
}

/** Sets a key of a section to what a value of the source gives, if there is that value. */
export function setFrom(
  draft: Draft,
  tree: Tree | undefined,
  section: string,
  key: string,
  value: string | number | boolean,
): void {
  if (tree !== undefined) draft.set(section, key, value, tree.path);
}
