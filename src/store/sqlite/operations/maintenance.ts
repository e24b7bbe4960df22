import type { Database } from "../database.ts";
import { RECORD_TYPES, type RecordType } from "../../records/record_store.ts";
import type { OperationContext } from "../operation.ts";
import { countFreePages, freeSomePages } from "../pages.ts";
import { readNumber } from "./table.ts";

/** Maximum number of expired records of one table, and of responses, that one run removes. */
const MAX_EXPIRED_RECORDS = 500;
const MAX_EXPIRED_RESPONSES_COUNT = 50;

/** Records of a table that expire by the column `expires`. */
interface Expiring {
  readonly table: string;
  readonly key: string;
  /** Condition for the records. */
  readonly where?: string;
  /** Maximum number that one run removes. */
  readonly most: number;
}

/** Types of records with many parts. */
const LARGE_TYPES: readonly RecordType[] = ["response", "conversation"];

const EXPIRING: readonly Expiring[] = [
  {
    table: "record",
    key: "key",
    where: `type in (${listOf(LARGE_TYPES)}) and`,
    most: MAX_EXPIRED_RESPONSES_COUNT,
  },
  {
    table: "record",
    key: "key",
    where: `type in (${listOf(RECORD_TYPES.filter((type) => !LARGE_TYPES.includes(type)))}) and`,
    most: MAX_EXPIRED_RECORDS,
  },
  { table: "spent", key: "caller, window", most: MAX_EXPIRED_RECORDS },
  { table: "settled", key: "seq", most: MAX_EXPIRED_RECORDS },
];

function listOf(types: readonly RecordType[]): string {
  return types.map((type) => `'${type}'`).join(", ");
}

/** Removes expired records. True if there may be more of them. */
export const removeExpired = {
  kind: "write" as const,
  run({ database, now }: OperationContext): boolean {
    if (readNumber(database, "select changed from counter") > now) {
      // After a step back of the clock these would last longer than their lifetime.
      database.change(
        "update record set changed = ?1, expires = ?1 + expires - changed where changed > ?1",
        now,
      );
      database.change("update counter set changed = ?", now);
    }
    return EXPIRING.map(({ table, key, where = "", most }) => {
      // The index is named, because SQLite would read all records of a type.
      const removed = database.change(
        `delete from ${table} where (${key}) in (
           select ${key} from ${table} indexed by ${table}_expires
           where ${where} expires <= ? limit ?)`,
        now,
        most,
      );
      return removed === most;
    }).some((isMore) => isMore);
  },
};

/** Gives free pages back to the disk, and empties the write-ahead log. True if there are more. */
export const freePages = {
  kind: "maintenance" as const,
  run({ database }: OperationContext): boolean {
    const before = countFreePages(database);
    if (before > 0) freeSomePages(database);
    // The log has the content of records that were deleted since.
    database.rows("pragma wal_checkpoint(truncate)");
    const after = countFreePages(database);
    return after > 0 && after < before;
  },
};

/** Records that one step of a purge has removed. */
export interface PurgeStep {
  readonly records: number;
  readonly isMore: boolean;
}

/** Removes some rows of all tables. Calls that are settled are no records, but are removed too. */
export const removeSomeRecords = {
  kind: "write" as const,
  run({ database }: OperationContext): PurgeStep {
    const before = countRecords(database);
    const isMore = PURGED.map(([table, key, most]) =>
      database.change(
        `delete from ${table} where (${key}) in (select ${key} from ${table} limit ?)`,
        most,
      ) === most
    ).includes(true);
    return { records: before - countRecords(database), isMore };
  },
};

/** The tables of a purge, with the rows that one step removes at most. */
const PURGED = [
  ["record", "key", MAX_EXPIRED_RESPONSES_COUNT],
  ["spent", "caller, window", MAX_EXPIRED_RECORDS],
  ["settled", "seq", MAX_EXPIRED_RECORDS],
  ["usage", "day, key, provider, model", MAX_EXPIRED_RECORDS],
] as const;

/**
 * Returns the number of records. A response that is stored with its owner counts as two, as in the
 * info.
 */
function countRecords(database: Database): number {
  return readNumber(
    database,
    `select (select entries from total) + (select sum(entries) from record_total) +
       (select bodies from record_total where type = 'response')`,
  );
}
