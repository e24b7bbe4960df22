import type { CallRecord } from "../record/record.ts";
import type { Costs } from "./compare.ts";
import { type Difference, DIFFERENCE_KINDS } from "./difference.ts";

/** A record as the report names it. */
export type NamedRecord = Pick<CallRecord, "id" | "at"> & {
  readonly key: string | null;
  readonly path: string;
  readonly model: string | null;
};

/** Equal differences of several records. */
export interface Group extends Difference {
  readonly count: number;
  /** The first records, in their order. */
  readonly records: readonly NamedRecord[];
  /** Sums of the records whose costs are known; null for another kind than `cost`. */
  readonly cost: { readonly before: number; readonly after: number } | null;
}

/** Maximum number of groups; the differences beyond are counted without their details. */
const MAX_GROUPS = 10_000;

/** Number of records that a group, or a reason to skip, names unless all are wanted. */
export const MAX_NAMED = 10;

interface Counted {
  readonly first: Difference;
  count: number;
  readonly records: NamedRecord[];
  readonly sums: { before: number; after: number };
}

/** Collects differences in groups. */
export interface Groups {
  add(record: NamedRecord, differences: readonly Difference[], cost: Costs): void;
  /** Returns the groups in the order of the report: by kind, the largest first. */
  list(): readonly Group[];
}

/** Returns no groups yet; `namesAll` if each names all of its records. */
export function newGroups(namesAll: boolean): Groups {
  const groups = new Map<string, Counted>();

  function groupOf(difference: Difference): Counted {
    const { kind } = difference;
    const key = keyOf(difference);
    const known = groups.get(key);
    if (known !== undefined) return known;
    const isFull = groups.size >= MAX_GROUPS;
    const first = isFull ? { kind, paths: [], before: "others", after: "others" } : difference;
    const group = groups.get(keyOf(first)) ??
      { first, count: 0, records: [], sums: { before: 0, after: 0 } };
    groups.set(keyOf(first), group);
    return group;
  }

  return {
    add(record, differences, { before, after }) {
      for (const group of new Set(differences.map(groupOf))) {
        group.count++;
        if (namesAll || group.records.length < MAX_NAMED) group.records.push(record);
        if (before === null || after === null) continue;
        group.sums.before += before;
        group.sums.after += after;
      }
    },
    list: () =>
      [...groups.entries()].toSorted(([key, one], [otherKey, other]) =>
        rankOf(one) - rankOf(other) || other.count - one.count || (key < otherKey ? -1 : 1)
      ).map(([, { first, count, records, sums }]) => ({
        ...first,
        count,
        records,
        cost: first.kind === "cost" ? sums : null,
      })),
  };
}

function keyOf({ kind, paths, before, after }: Difference): string {
  return JSON.stringify([kind, paths, before, after]);
}

function rankOf({ first: { kind } }: Counted): number {
  return DIFFERENCE_KINDS.indexOf(kind);
}
