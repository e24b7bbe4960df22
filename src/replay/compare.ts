import { computeCost, type Pricing } from "../observe/cost.ts";
import { nanoUsd } from "../access/client_key.ts";
import type { RecordHead } from "../record/record.ts";
import { pairs, targetDifferences } from "./compare_targets.ts";
import { type Difference, differing, mainTarget, nameOf, providerOf } from "./difference.ts";
import { withoutIndexes } from "./json_changes.ts";
import type { PlannedCall, Replayed } from "./plan_record.ts";

/** Cost of a record in whole nano-dollars; null if its use or the price is not known. */
export interface Costs {
  readonly before: number | null;
  readonly after: number | null;
}

/** Results of both configurations for a record. */
export interface Comparison {
  readonly differences: readonly Difference[];
  readonly cost: Costs;
}

/** Context of a comparison besides the two results. */
export interface CompareOptions {
  readonly head: RecordHead;
  readonly before: Pricing;
  readonly after: Pricing;
  /** True if white space and the order of members count. */
  readonly isExact: boolean;
}

/** Compares what two configurations do with a record. */
export function compare(before: Replayed, after: Replayed, options: CompareOptions): Comparison {
  const none = { before: null, after: null };
  const keys = keyDifferences(before, after);
  const [one, other] = [before.call, after.call];
  const isLost = (kind: string) => kind === "missing" || kind === "lapsed";
  // A client that is not there is refused, which says nothing of the request.
  if (isLost(before.client.kind) !== isLost(after.client.kind)) {
    return { differences: keys, cost: none };
  }
  if (one.kind === "refused" || other.kind === "refused") {
    return { differences: [...keys, ...refusalDifferences(one, other)], cost: none };
  }
  if (one.kind === "other" || other.kind === "other") return { differences: keys, cost: none };
  const cost = {
    before: costOf(one, options.head, options.before),
    after: costOf(other, options.head, options.after),
  };
  return {
    differences: [
      ...keys,
      ...planDifferences(one, other),
      ...pairs(one, other).flatMap((pair) => targetDifferences(pair, options.isExact)),
      ...costDifferences(one, other, cost),
    ],
    cost,
  };
}

function keyDifferences({ client: before }: Replayed, { client: after }: Replayed): Difference[] {
  const [one, other] = [before, after].map(({ kind, permissions }) =>
    kind === "known" ? permissions : kind
  );
  return differing("key", [], one ?? "", other ?? "");
}

function refusalDifferences(before: Replayed["call"], after: Replayed["call"]): Difference[] {
  const refused = [before, after].filter((one) => one.kind === "refused");
  const paths = [
    ...new Set(refused.flatMap(({ param }) => param === null ? [] : [withoutIndexes(param)])),
  ];
  const kind = before.kind !== "refused" ? "refused" : after.kind !== "refused" ? "accepted" : null;
  const found = differing(kind ?? "error", paths, summaryOf(before), summaryOf(after));
  const messageIn = (one: Replayed["call"]) => one.kind === "refused" ? one.message : "";
  const content = { before: messageIn(before), after: messageIn(after) };
  const [one, other] = refused.map(({ route }) => route ?? "none");
  return [
    ...found.map((one) => ({ ...one, content })),
    // Where one is served, its route is in the summary.
    ...one === undefined || other === undefined ? [] : differing("route", [], one, other),
  ];
}

/** Returns what becomes of a call, as one line. */
function summaryOf(call: Replayed["call"]): string {
  if (call.kind === "other") return "not refused";
  if (call.kind === "planned") {
    const first = mainTarget(call);
    return `${call.route} -> ${first === null ? "nothing" : nameOf(first)}`;
  }
  const { status, code, param } = call;
  return `${status} ${code}${param === null ? "" : `, ${withoutIndexes(param)}`}`;
}

function planDifferences(before: PlannedCall, after: PlannedCall): Difference[] {
  // The place of a target in its route decides only which of equal ones is picked.
  const targets = ({ targets }: PlannedCall) =>
    targets.map((target) => `${providerOf(target)} ${target.share}`).toSorted().join(", ") ||
    "none";
  const fallbacks = ({ fallbacks }: PlannedCall) => fallbacks.map(providerOf).join(", ");
  const models = ({ targets, fallbacks }: PlannedCall) =>
    [...targets.map(nameOf).toSorted(), ...fallbacks.map(nameOf)].join(", ");
  const sameProviders = targets(before) === targets(after) &&
    fallbacks(before) === fallbacks(after);
  const first = (call: PlannedCall) => mainTarget(call)?.model ?? "";
  return [
    ...differing("route", [], before.route, after.route),
    ...differing("targets", [], targets(before), withReasons(targets(after), after)),
    ...differing("fallback", [], fallbacks(before) || "none", fallbacks(after) || "none"),
    ...(sameProviders
      ? differing("model", [], models(before), models(after))
      : differing("model", [], first(before), first(after))),
  ];

  function withReasons(text: string, { skipped }: PlannedCall): string {
    if (text === targets(before) || skipped.length === 0) return text;
    return `${text} (${skipped.map(({ target, reason }) => `${target}: ${reason}`).join("; ")})`;
  }
}

/** Returns the cost of the recorded use at the target that gets most of the calls. */
function costOf(
  call: PlannedCall,
  { usage, units }: RecordHead,
  pricing: Pricing,
): number | null {
  const first = mainTarget(call);
  if (first === null || (usage === null && units === null)) return null;
  const tokens = usage === null ? null : { ...usage, cacheWrite: usage.cache_write };
  const { images, seconds, characters } = units ?? {};
  const counted = {
    ...images !== undefined && { images },
    ...seconds !== undefined && { seconds },
    ...characters !== undefined && { characters },
  };
  const used = { usage: tokens, units: units === null ? null : counted };
  const cost = computeCost(used, pricing, first.provider, first.model);
  return cost === null ? null : nanoUsd(cost);
}

function costDifferences(before: PlannedCall, after: PlannedCall, cost: Costs): Difference[] {
  if (cost.before === cost.after) return [];
  const text = (call: PlannedCall, amount: number | null) => {
    const first = mainTarget(call);
    return `${first === null ? "" : nameOf(first)}${amount === null ? ", no price" : ""}`;
  };
  return [{
    kind: "cost",
    paths: [],
    before: text(before, cost.before),
    after: text(after, cost.after),
  }];
}
