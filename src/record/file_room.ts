import { type Database, integerOf } from "../store/sqlite/database.ts";
import { countFreePages, countPages, freeSomePages, PAGE_BYTES } from "../store/sqlite/pages.ts";

/** Maximum number of rows that one statement deletes. */
export const MAX_DELETED_RECORDS = 64;

/** Share of the records that is deleted when the disk is full. */
const RELIEF_RATIO = 0.05;

/**
 * Deletes the oldest records until the rest takes at most these bytes. Returns the number of
 * deleted ones.
 */
export function makeRoom(database: Database, maxBytes: number): number {
  let removed = 0;
  for (let used = usedBytes(database); used > maxBytes;) {
    const oldest = database.rows(
      `select seq, bytes from record order by seq limit ${MAX_DELETED_RECORDS}`,
    );
    if (oldest.length === 0) return removed;
    let freed = 0;
    let last = 0;
    for (const row of oldest) {
      last = integerOf(row, "seq");
      freed += integerOf(row, "bytes");
      if (freed >= used - maxBytes) break;
    }
    removed += database.change("delete from record where seq <= ?", last);
    used = usedBytes(database);
  }
  return removed;
}

/** Deletes the oldest records of a file whose disk is full. Returns the number of deleted ones. */
export function relieve(database: Database, records: number): number {
  return database.change(
    "delete from record where seq in (select seq from record order by seq limit ?)",
    Math.ceil(records * RELIEF_RATIO),
  );
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
