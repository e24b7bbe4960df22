import { configDigest } from "../record/config_digest.ts";
import type { DifferenceKind } from "./difference.ts";
import { MAX_NAMED, newGroups } from "./groups.ts";
import type { RecordSet } from "./record_set.ts";
import type { ReplayResult } from "./replay_records.ts";
import { type JobOptions, replayInJobs } from "./replay_jobs.ts";
import type { Report, SkippedReason } from "./report.ts";

/** How a set is replayed. */
export interface ReplayOptions extends JobOptions {
  /** True if the report names all records of a group, and all skipped ones. */
  readonly namesAll: boolean;
}

/** Replays the records of a set through two configurations. */
export async function replaySet(set: RecordSet, options: ReplayOptions): Promise<Report> {
  const groups = newGroups(options.namesAll);
  const skipped = new Map<SkippedReason, number>();
  const skippedIds = new Map<SkippedReason, string[]>();
  const counts = new Map<DifferenceKind, number>();
  const cost = { before: 0, after: 0, lost: 0 };
  let replayed = 0;
  let different = 0;
  let place = 0;
  for await (const result of replayInJobs(set, options)) {
    const id = set.entries[place++]?.id ?? "";
    if (typeof result === "string") skip(result, id);
    else add(result);
  }
  return {
    config: { before: configDigest(options.before), after: configDigest(options.after) },
    records: set.entries.length,
    replayed,
    different,
    skipped,
    skippedIds,
    counts,
    groups: groups.list(),
    cost,
  };

  function skip(reason: SkippedReason, id: string): void {
    skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    const ids = skippedIds.get(reason) ?? [];
    skippedIds.set(reason, ids);
    if (options.namesAll || ids.length < MAX_NAMED) ids.push(id === "" ? "no ID" : id);
  }

  function add(result: Exclude<ReplayResult, SkippedReason>): void {
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
