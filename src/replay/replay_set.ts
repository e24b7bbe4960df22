import { configDigest } from "../record/config_digest.ts";
import type { DifferenceKind } from "./difference.ts";
import { newGroups } from "./groups.ts";
import type { RecordSet } from "./record_set.ts";
import type { ReplayResult } from "./replay_records.ts";
import { type JobOptions, replayInJobs } from "./replay_jobs.ts";
import type { Report, SkippedReason } from "./report.ts";

/** How a set is replayed. */
export interface ReplayOptions extends JobOptions {
  /** True if the report names all records of a group. */
  readonly namesAll: boolean;
}

/** Replays the records of a set through two configurations. */
export async function replaySet(set: RecordSet, options: ReplayOptions): Promise<Report> {
  const groups = newGroups(options.namesAll);
  const skipped = new Map<SkippedReason, number>();
  const counts = new Map<DifferenceKind, number>();
  const cost = { before: 0, after: 0, lost: 0 };
  let replayed = 0;
  let different = 0;
  for await (const result of replayInJobs(set, options)) add(result);
  return {
    config: { before: configDigest(options.before), after: configDigest(options.after) },
    records: set.entries.length,
    replayed,
    different,
    skipped,
    counts,
    groups: groups.list(),
    cost,
  };

  function add(result: ReplayResult): void {
    if (typeof result === "string") {
      skipped.set(result, (skipped.get(result) ?? 0) + 1);
      return;
    }
    replayed++;
    if (result.differences.length > 0) different++;
    for (const kind of new Set(result.differences.map((one) => one.kind))) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    const { before, after } = result.cost;
    if (before !== null && after !== null) {
      cost.before += before;
      cost.after += after;
    } else if (before !== null) cost.lost++;
    groups.add(result.record, result.differences, result.cost);
  }
}
