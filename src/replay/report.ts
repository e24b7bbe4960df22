import type { DifferenceKind } from "./difference.ts";
import type { Group } from "./groups.ts";

/** Reasons for which a record is not replayed. */
export const SKIP_REASONS = [
  "head_only",
  "cut",
  "endpoint",
  "unknown_key",
  "previous_not_recorded",
  "conversation_not_recorded",
  "refused_by_both",
  "unreadable",
] as const;

/** Reason for which a record is not replayed. */
export type SkippedReason = (typeof SKIP_REASONS)[number];

/** The result of a replay. */
export interface Report {
  /** Digests of both configurations. */
  readonly config: { readonly before: string; readonly after: string };
  readonly records: number;
  readonly replayed: number;
  readonly different: number;
  readonly skipped: ReadonlyMap<SkippedReason, number>;
  /** IDs of the skipped records by their reason: the first ones, or all if that is wanted. */
  readonly skippedIds: ReadonlyMap<SkippedReason, readonly string[]>;
  /** Number of records with a difference of each kind that occurred. */
  readonly counts: ReadonlyMap<DifferenceKind, number>;
  readonly groups: readonly Group[];
  /** Sums in nano-dollars of the records with both costs; `lost`: those without a price now. */
  readonly cost: { readonly before: number; readonly after: number; readonly lost: number };
}

/** Returns a report as JSON text, for programs. */
export function reportJson(report: Report, showsContent: boolean): string {
  const { config, records, replayed, different, skipped, skippedIds, counts, groups, cost } =
    report;
  const json = {
    format: "switchyard.replay/1",
    config,
    totals: {
      records,
      replayed,
      same: replayed - different,
      different,
      kinds: Object.fromEntries(counts),
    },
    skipped: Object.fromEntries(skipped),
    skipped_records: Object.fromEntries(skippedIds),
    groups: groups.map(({ kind, paths, before, after, content, count, records, cost }) => ({
      kind,
      paths,
      before,
      after,
      ...showsContent && content !== undefined && { content },
      count,
      records: records.map(({ id }) => id),
      ...cost !== null && { cost: { before: usd(cost.before), after: usd(cost.after) } },
    })),
    cost: { before: usd(cost.before), after: usd(cost.after), without_price: cost.lost },
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}

function usd(nanoUsd: number): number {
  return nanoUsd / 1e9;
}
