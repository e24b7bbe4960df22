import type { RecordStore } from "../records/record_store.ts";
import type { Link } from "./link.ts";

/** Returns the records in a database. */
export function newSqliteRecords(link: Link): RecordStore<Uint8Array<ArrayBuffer>> {
  return {
    async get(ids, options) {
      if (options.renewMs === undefined) return await link.run("getRecords", { ids, options });
      const renewed = await link.run("renewRecords", { ids, options });
      // On a full disk records can still be read, although their lifetime cannot begin again.
      return renewed.ok ? renewed : await link.run("getRecords", { ids, options });
    },
    named: (type, names, most) => link.run("namedParts", { type, names, most }),
    commit: (changes) => link.run("commitRecords", changes),
    stats: () => link.totals().records,
  };
}
