import type { Change, RecordStore } from "../records/record_store.ts";
import type { Link } from "./link.ts";

type Blob = Uint8Array<ArrayBuffer>;

/** Returns the records in a database. */
export function newSqliteRecords(link: Link): RecordStore<Blob> {
  return {
    async get(ids, options) {
      if (options.renewMs === undefined) return await link.run("getRecords", { ids, options });
      const renewed = await link.run("renewRecords", { ids, options });
      // On a full disk records can still be read, although their lifetime cannot begin again.
      return renewed.ok ? renewed : await link.run("getRecords", { ids, options });
    },
    named: (type, names, most) => link.run("namedParts", { type, names, most }),
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
