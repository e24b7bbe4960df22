import { type Database, integerOf, textOf } from "../database.ts";
import type { StoreStats } from "../../object_store.ts";
import { noRecordStats, recordStats } from "../../records/record_store.ts";
import type { Totals } from "../operation.ts";

/** Returns the sizes of all records, and of the sums of quotas. */
export function readTotals(database: Database): Totals {
  return { records: readRecordStats(database), quotas: readQuotaTotal(database) };
}

/** Returns the size of the sums of quotas. */
export function readQuotaTotal(database: Database): StoreStats {
  const row = database.row("select entries, bytes from total");
  return row === undefined
    ? { entries: 0, bytes: 0 }
    : { entries: integerOf(row, "entries"), bytes: integerOf(row, "bytes") };
}

function readRecordStats(database: Database): Totals["records"] {
  const found = new Map(
    database.rows("select type, entries, bodies, head_bytes, bytes from record_total").map((
      row,
    ) => [
      textOf(row, "type"),
      {
        entries: integerOf(row, "entries"),
        bodies: integerOf(row, "bodies"),
        headBytes: integerOf(row, "head_bytes"),
        bytes: integerOf(row, "bytes"),
      },
    ]),
  );
  const none = noRecordStats();
  return recordStats((type) => found.get(type) ?? none[type]);
}
