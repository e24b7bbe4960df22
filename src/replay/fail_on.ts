import { DIFFERENCE_KINDS, type DifferenceKind } from "./difference.ts";
import type { Report } from "./report.ts";

/** Conditions under which a replay fails. */
export interface FailOn {
  readonly kinds: ReadonlySet<DifferenceKind>;
  /** Rise of the cost that still passes, as a ratio; null for any. */
  readonly maxRise: number | null;
}

/** The kinds that fail a replay by default. */
export const USUAL_FAIL_ON = "refused,error,key,lossy";

/** Pattern of the bound of the cost. */
const COST_BOUND = /^cost:\+(\d{1,6}(?:\.\d{1,6})?)%$/;

/** Parses `any`, `none`, or kinds and a bound of the cost; null if the text is none of them. */
export function parseFailOn(text: string): FailOn | null {
  if (text === "none") return { kinds: new Set(), maxRise: null };
  if (text === "any") return { kinds: new Set(DIFFERENCE_KINDS), maxRise: null };
  const kinds = new Set<DifferenceKind>();
  let maxRise: number | null = null;
  for (const word of text.split(",")) {
    const kind = DIFFERENCE_KINDS.find((one) => one === word);
    const [, percent] = COST_BOUND.exec(word) ?? [];
    if (kind !== undefined) kinds.add(kind);
    else if (percent !== undefined) maxRise = Number(percent) / 100;
    else return null;
  }
  return { kinds, maxRise };
}

/** True if a report has a difference that makes the replay fail. */
export function isFailing({ kinds, maxRise }: FailOn, { counts, cost }: Report): boolean {
  if ([...kinds].some((kind) => (counts.get(kind) ?? 0) > 0)) return true;
  if (maxRise === null) return false;
  // A price that is not known any more may be any price.
  return cost.lost > 0 || cost.after > cost.before * (1 + maxRise);
}
