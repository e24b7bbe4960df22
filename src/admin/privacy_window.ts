import type { PrivacyCounts } from "../core/privacy_counts.ts";
import { MAX_MINUTES, newTimeRing } from "./second_ring.ts";

/** Counts of what privacy rules found and restored in the last 15 minutes, never a value. */
export interface PrivacyTotals {
  /** Values that were found, by the name of the rule. */
  readonly matches: ReadonlyMap<string, number>;
  /** Tokens of answers that became values again. */
  readonly restored: number;
  /** Words of answers in the form of a token that belong to no value of their call. */
  readonly unknown: number;
  /** Parts of requests that no rule can read. */
  readonly unread: number;
}

/** Returns the totals of all calls in the last 15 minutes. Names of rules come from the file. */
export function newPrivacyWindow() {
  const ring = newTimeRing(MAX_MINUTES, () => ({
    matches: new Map<string, number>(),
    restored: 0,
    unknown: 0,
    unread: 0,
  }));

  return {
    add(minute: number, { matches, restored, unknown, unread }: PrivacyCounts): void {
      const totals = ring.at(minute);
      for (const { rule, count } of matches) {
        totals.matches.set(rule, (totals.matches.get(rule) ?? 0) + count);
      }
      totals.restored += restored;
      totals.unknown += unknown;
      totals.unread += unread;
    },
    read(minute: number): PrivacyTotals {
      const all = ring.until(minute);
      const matches = new Map<string, number>();
      for (const one of all) {
        for (const [rule, count] of one.matches) {
          matches.set(rule, (matches.get(rule) ?? 0) + count);
        }
      }
      const total = (of: "restored" | "unknown" | "unread") =>
        all.reduce((sum, one) => sum + one[of], 0);
      return {
        matches,
        restored: total("restored"),
        unknown: total("unknown"),
        unread: total("unread"),
      };
    },
  };
}
