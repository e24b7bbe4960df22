import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import { responseObjects } from "../record/events_of.ts";
import type { CallRecord } from "../record/record.ts";
import { compare, type Comparison } from "./compare.ts";
import type { DifferenceKind } from "./difference.ts";
import { newGroups } from "./groups.ts";
import type { DryGateway } from "./plan_record.ts";
import type { RecordSet } from "./record_set.ts";
import type { Report, SkippedReason } from "./report.ts";

/** What a replay does besides its default. */
export interface ReplayOptions {
  /** True if white space and the order of members of requests count. */
  readonly isExact: boolean;
  /** True if the report names all records of a group. */
  readonly namesAll: boolean;
}

/** Replays the records of a set, in their order, through two configurations. */
export async function replaySet(
  set: RecordSet,
  before: DryGateway,
  after: DryGateway,
  { isExact, namesAll }: ReplayOptions,
): Promise<Report> {
  const groups = newGroups(namesAll);
  const skipped = new Map<SkippedReason, number>();
  const counts = new Map<DifferenceKind, number>();
  const cost = { before: 0, after: 0, lost: 0 };
  const chain = newChain(set, [before, after]);
  let replayed = 0;
  let different = 0;
  for (const entry of set.entries) {
    const record = set.read(entry);
    const result = record === null ? "unreadable" : await replayRecord(record);
    if (typeof result === "string") {
      skipped.set(result, (skipped.get(result) ?? 0) + 1);
      continue;
    }
    replayed++;
    if (result.differences.length > 0) different++;
    for (const kind of new Set(result.differences.map((one) => one.kind))) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    addCost(result);
    if (record !== null) groups.add(record, result.differences, result.cost);
  }
  return {
    config: { before: before.digest, after: after.digest },
    records: set.entries.length,
    replayed,
    different,
    skipped,
    counts,
    groups: groups.list(),
    cost,
  };

  async function replayRecord(record: CallRecord): Promise<Comparison | SkippedReason> {
    const { request, head } = record;
    if (request === undefined) return "head_only";
    if (head.cut.includes("request")) return "cut";
    if (request.body === null) return "endpoint";
    const missing = head.api === "responses" ? chain.missing(request.body) : null;
    if (missing !== null) return missing;
    const [one, other] = [
      await before.replay(record, request),
      await after.replay(record, request),
    ];
    if (one.client.kind === "missing" && other.client.kind === "missing") return "unknown_key";
    if (one.call.kind === "other" || other.call.kind === "other") return "endpoint";
    await chain.store(record);
    return compare(one, other, { head, before: before.config, after: after.config, isExact });
  }

  function addCost({ cost: { before, after } }: Comparison): void {
    if (before !== null && after !== null) {
      cost.before += before;
      cost.after += after;
    } else if (before !== null) cost.lost++;
  }
}

/**
 * Returns the responses of a set that later records continue. Both gateways store them in their
 * memory, as they would have after the call.
 */
function newChain(set: RecordSet, gateways: readonly DryGateway[]) {
  const stored = new Set<string>();
  return {
    /** Returns why the earlier turns of a request are not known; null if they are, or none are. */
    missing(body: string): SkippedReason | null {
      if (!body.includes('"previous_response_id"') && !body.includes('"conversation"')) return null;
      const request = parseJson(body);
      if (!isObject(request)) return null;
      const { previous_response_id: previous = null, conversation = null } = request;
      if (conversation !== null) return "conversation_not_recorded";
      return typeof previous === "string" && !stored.has(previous) ? "previous_not_recorded" : null;
    },
    /** Stores the response of the record that was replayed last, if a later one continues it. */
    async store(record: CallRecord): Promise<void> {
      if (record.head.api !== "responses" || set.continued.size === 0) return;
      const resource = resourceOf(record);
      if (typeof resource?.id !== "string" || !set.continued.has(resource.id)) return;
      for (const gateway of gateways) await gateway.store(resource);
      stored.add(resource.id);
    },
  };
}

/** Returns the response object of a record; null if it has none that is complete. */
function resourceOf({ response, head }: CallRecord): JsonObject | null {
  if (response === undefined || head.cut.includes("response")) return null;
  const objects = responseObjects(response);
  if (response.body !== null) return objects[0] ?? null;
  // The terminal event is the last one with a response.
  return objects.map((event) => event.response).findLast(isObject) ?? null;
}
