import type { Database } from "./database.ts";
import { readNumber } from "./operations/table.ts";

/** Size of a page: the default of SQLite, which no file here changes. */
export const PAGE_BYTES = 4096;

/** Maximum number of pages that one step gives back to the disk. */
const MAX_FREED_PAGES_COUNT = 1_000;

/** Returns the number of pages of the file. */
export function countPages(database: Database): number {
  return readNumber(database, "select page_count from pragma_page_count");
}

/** Returns the number of pages of the file that have no content. */
export function countFreePages(database: Database): number {
  return readNumber(database, "select freelist_count from pragma_freelist_count");
}

/** Gives some of the free pages back to the disk. */
export function freeSomePages(database: Database): void {
  database.rows(`pragma incremental_vacuum(${MAX_FREED_PAGES_COUNT})`);
}
