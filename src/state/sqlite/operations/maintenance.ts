import type { Database, SqlValue } from "../database.ts";
import type { OperationContext } from "../operation.ts";
import { readNumber } from "./table.ts";

/** Maximum number of expired records of one table, and of responses, that one run removes. */
const MAX_EXPIRED_RECORDS = 500;
const MAX_EXPIRED_RESPONSES_COUNT = 50;

/** Maximum number of pages of 4 KiB that one run gives back to the disk. */
const MAX_FREED_PAGES_COUNT = 1_000;

/** Removes expired records. True if there may be more of them. */
export const removeExpired = {
  kind: "write" as const,
  run({ database, now, horizon }: OperationContext): boolean {
    const remove = (table: string, key: string, condition: string, time: number, most: number) =>
      removeSome(
        database,
        `delete from ${table} where (${key}) in
           (select ${key} from ${table} where ${condition} limit ?)`,
        most,
        time,
      );
    // After a step back of the clock these would last longer than their lifetime.
    for (const table of ["binding", "response", "conversation", "reasoning"]) {
      database.change(`update ${table} set changed = ?1 where changed > ?1`, now);
    }
    const records = MAX_EXPIRED_RECORDS;
    const responses = MAX_EXPIRED_RESPONSES_COUNT;
    return [
      remove("response", "key", "changed <= ?", horizon, responses),
      remove("binding", "type, id", "type = 'response' and changed <= ?", horizon, responses),
      remove("binding", "type, id", "type <> 'response' and changed <= ?", horizon, records),
      remove("conversation", "key", "changed <= ?", horizon, responses),
      remove("reasoning", "key", "changed <= ?", horizon, records),
      remove("cached_response", "key", "expires <= ?", now, records),
      remove("spent", "caller, window", "expires <= ?", now, records),
      remove("settled", "seq", "expires <= ?", now, records),
    ].some((isMore) => isMore);
  },
};

/** Gives free pages back to the disk, and empties the write-ahead log. True if there are more. */
export const freePages = {
  kind: "maintenance" as const,
  run({ database }: OperationContext): boolean {
    if (readNumber(database, "select freelist_count from pragma_freelist_count") > 0) {
      database.rows(`pragma incremental_vacuum(${MAX_FREED_PAGES_COUNT})`);
    }
    // The log has the content of records that were deleted since.
    database.rows("pragma wal_checkpoint(truncate)");
    return readNumber(database, "select freelist_count from pragma_freelist_count") > 0;
  },
};

/** Removes some records of all tables. Returns their number; 0 if there are none left. */
export const removeSomeRecords = {
  kind: "write" as const,
  run({ database }: OperationContext): number {
    let removed = 0;
    for (
      const [table, key, most] of [
        ["response", "key", MAX_EXPIRED_RESPONSES_COUNT],
        ["binding", "type, id", MAX_EXPIRED_RECORDS],
        ["conversation", "key", MAX_EXPIRED_RESPONSES_COUNT],
        ["reasoning", "key", MAX_EXPIRED_RECORDS],
        ["cached_response", "key", MAX_EXPIRED_RECORDS],
        ["spent", "caller, window", MAX_EXPIRED_RECORDS],
        ["settled", "seq", MAX_EXPIRED_RECORDS],
        ["usage", "day, key, provider, model", MAX_EXPIRED_RECORDS],
      ] as const
    ) {
      removed += database.change(
        `delete from ${table} where (${key}) in (select ${key} from ${table} limit ?)`,
        most,
      );
    }
    return removed;
  },
};

function removeSome(database: Database, sql: string, most: number, time: SqlValue): boolean {
  return database.change(sql, time, most) === most;
}
