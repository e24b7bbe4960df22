import { type Result, success } from "../../core/failure/result.ts";
import { pushAll } from "../../core/push_all.ts";
import {
  type Change,
  MAX_STEP_PARTS,
  type NamedPart,
  type ReadOptions,
  type RecordId,
  type RecordStore,
  type StoredRecord,
} from "../records/record_store.ts";
import type { Link } from "./link.ts";

type Blob = Uint8Array<ArrayBuffer>;

/** Returns the records in a database. */
export function newSqliteRecords(link: Link): RecordStore<Blob> {
  async function getStep(
    ids: readonly RecordId[],
    options: ReadOptions,
  ): Promise<Result<readonly (StoredRecord<Blob> | null)[]>> {
    if (options.renewMs === undefined) return await link.run("getRecords", { ids, options });
    const renewed = await link.run("renewRecords", { ids, options });
    // On a full disk records can still be read, although their lifetime cannot begin again.
    return renewed.ok ? renewed : await link.run("getRecords", { ids, options });
  }

  return {
    async get(ids, options) {
      if (ids.length <= MAX_STEP_PARTS) return await getStep(ids, options);
      // A provider may list very many objects: other operations come between the steps.
      const records: (StoredRecord<Blob> | null)[] = [];
      for (let at = 0; at < ids.length; at += MAX_STEP_PARTS) {
        const step = await getStep(ids.slice(at, at + MAX_STEP_PARTS), options);
        if (!step.ok) return step;
        records.push(...step.value);
      }
      return success(records);
    },
    async named(type, names, most) {
      const found: NamedPart<Blob>[] = [];
      // A request may refer to very many items: other operations come between the steps.
      for (let at = 0; at < names.length; at += MAX_STEP_PARTS) {
        const step = names.slice(at, at + MAX_STEP_PARTS);
        const uses = await link.run("namedParts", { type, names: step, most });
        if (!uses.ok) return uses;
        pushAll(found, uses.value);
      }
      return success(found);
    },
    commit: (changes) => link.run("commitRecords", changes.map(withoutKnownNames)),
    stats: () => link.totals().records,
  };
}

/** Returns the change without the names of stored parts, which would be copied for nothing. */
function withoutKnownNames(change: Change<Blob>): Change<Blob> {
  if (change.next?.parts === undefined) return change;
  const parts = change.next.parts.map((part) => part.body === null ? { ...part, names: [] } : part);
  return { ...change, next: { ...change.next, parts } };
}
