import { type Database, integerOf, type SqlValue } from "../store/sqlite/database.ts";
import { readNumber } from "../store/sqlite/operations/table.ts";
import { countFreePages, countPages, freeSomePages, PAGE_BYTES } from "../store/sqlite/pages.ts";
import { recordsIn } from "./row_codec.ts";

/** Maximum number of rows that one statement deletes. */
const MAX_DELETED_ROWS = 64;

/** Share of the rows that is deleted when the disk is full. */
const RELIEF_RATIO = 0.05;

/**
 * Deletes the oldest records until the rest takes at most these bytes. Returns the number of
 * deleted ones.
 */
export function makeRoom(database: Database, maxBytes: number): number {
  let removed = 0;
  for (let used = usedBytes(database); used > maxBytes;) {
    const oldest = database.rows(
      `select seq, bytes from record order by seq limit ${MAX_DELETED_ROWS}`,
    );
    if (oldest.length === 0) return removed;
    let freed = 0;
    let last = 0;
    for (const row of oldest) {
      last = integerOf(row, "seq");
      freed += integerOf(row, "bytes");
      if (freed >= used - maxBytes) break;
    }
    removed += deleteRows(database, "seq <= ?", last);
    used = usedBytes(database);
  }
  return removed;
}

/** Deletes the records of calls before a time. Returns the number of deleted ones. */
export function deleteOlder(database: Database, time: number): number {
  const oldest =
    `seq in (select seq from record where at < ? order by at limit ${MAX_DELETED_ROWS})`;
  let removed = 0;
  for (let records = -1; records !== 0; removed += records) {
    records = deleteRows(database, oldest, time);
  }
  return removed;
}

/** Deletes the oldest records of a file whose disk is full. Returns the number of deleted ones. */
export function relieve(database: Database): number {
  const rows = Math.ceil(readNumber(database, "select count(*) from record") * RELIEF_RATIO);
  return deleteRows(database, "seq in (select seq from record order by seq limit ?)", rows);
}

/** Deletes rows. Returns the number of records in them. */
function deleteRows(database: Database, where: string, ...parameters: SqlValue[]): number {
  return database.rows(`delete from record where ${where} returning records`, ...parameters)
    .reduce((sum, row) => sum + recordsIn(row), 0);
}

/** Gives free pages back to the disk while the file is larger than it may be. */
export function shrink(database: Database, maxBytes: number): void {
  for (let free = -1;;) {
    const left = countFreePages(database);
    if (left === free || left === 0 || fileBytes(database) <= maxBytes) return;
    free = left;
    freeSomePages(database);
  }
}

function fileBytes(database: Database): number {
  return countPages(database) * PAGE_BYTES;
}

/** Returns the size of the file without its free pages. */
export function usedBytes(database: Database): number {
  return fileBytes(database) - countFreePages(database) * PAGE_BYTES;
}
