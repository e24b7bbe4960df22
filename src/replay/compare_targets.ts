import type { HeaderFields } from "../core/header_fields.ts";
import { parseJson } from "../core/json/json.ts";
import { type Difference, differing, providerOf } from "./difference.ts";
import { jsonChanges, shapeOf, withoutIndexes } from "./json_changes.ts";
import type { PlannedCall } from "./plan_record.ts";
import type { TargetView } from "./view_target.ts";

/** Two targets whose requests are compared. */
export interface Pair {
  readonly before: TargetView;
  readonly after: TargetView;
  /** True if both have the same provider and protocol, so that their requests are alike. */
  readonly isSame: boolean;
}

/**
 * Returns the targets of two plans in pairs: equal ones, then those of the same provider, then by
 * place.
 */
export function pairs(before: PlannedCall, after: PlannedCall): readonly Pair[] {
  const left = [...before.targets, ...before.fallbacks];
  const right = [...after.targets, ...after.fallbacks];
  const same = (one: TargetView, other: TargetView) => providerOf(one) === providerOf(other);
  const equal = (one: TargetView, other: TargetView) =>
    same(one, other) && one.model === other.model;
  const found = [...matched(left, right, equal), ...matched(left, right, same)]
    .map(([one, other]) => ({ before: one, after: other, isSame: true }));
  const rest = matched(left, right, () => true)
    .map(([one, other]) => ({ before: one, after: other, isSame: false }));
  return [...found, ...rest];
}

/** Takes those out of both lists that match. */
function matched(
  left: TargetView[],
  right: TargetView[],
  matches: (one: TargetView, other: TargetView) => boolean,
): (readonly [TargetView, TargetView])[] {
  const found: (readonly [TargetView, TargetView])[] = [];
  for (const one of [...left]) {
    const other = right.find((candidate) => matches(one, candidate));
    if (other === undefined) continue;
    left.splice(left.indexOf(one), 1);
    right.splice(right.indexOf(other), 1);
    found.push([one, other]);
  }
  return found;
}

/** Returns the differences between the requests to a pair of targets. */
export function targetDifferences({ before, after, isSame }: Pair, isExact: boolean): Difference[] {
  const carriage = [
    ...pathDifferences("lossy", before.lossy, after.lossy),
    ...pathDifferences("verified", before.verified, after.verified),
  ];
  return isSame
    ? [
      ...carriage,
      ...requestDifferences(before, after, isExact),
      ...headerDifferences(before.headers, after.headers),
    ]
    : carriage;
}

function pathDifferences(
  kind: "lossy" | "verified",
  before: readonly string[],
  after: readonly string[],
): Difference[] {
  const [one, other] = [new Set(before.map(withoutIndexes)), new Set(after.map(withoutIndexes))];
  const changed = [...one.symmetricDifference(other)].toSorted();
  if (changed.length === 0) return [];
  const text = (paths: ReadonlySet<string>) => [...paths].toSorted().join(", ") || "none";
  return [{ kind, paths: changed, before: text(one), after: text(other) }];
}

function requestDifferences(before: TargetView, after: TargetView, isExact: boolean): Difference[] {
  const place = ({ method, url }: TargetView) => `${method} ${url}`;
  const found = differing("request", ["url"], place(before), place(after));
  const [one, other] = [before.body(), after.body()];
  if (one === other) return found;
  const changes = jsonChanges(parseJson(one), parseJson(other));
  if (changes.length === 0 && isExact) {
    return [...found, { kind: "request", paths: ["$"], before: "bytes", after: "other bytes" }];
  }
  return [
    ...found,
    ...changes.map((change): Difference => ({
      kind: "request",
      paths: [change.path],
      before: shapeOf(change.before),
      after: shapeOf(change.after),
      content: {
        before: JSON.stringify(change.before) ?? "absent",
        after: JSON.stringify(change.after) ?? "absent",
      },
    })),
  ];
}

function headerDifferences(before: HeaderFields, after: HeaderFields): Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return names.filter((name) => before[name] !== after[name]).map((name) => ({
    kind: "headers",
    paths: [name],
    before: shapeOf(before[name]),
    after: shapeOf(after[name]),
    content: { before: before[name] ?? "absent", after: after[name] ?? "absent" },
  }));
}
