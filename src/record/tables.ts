import type { Tables } from "../store/sqlite/tables.ts";

/** Maximum number of records in a row, and of the time between the beginnings of their calls. */
export const MAX_ROW_RECORDS = 32, MAX_ROW_SPREAD_MS = 60_000;

/**
 * Tables of a file of records: only numbers, times and sizes can be read without a key. A row has
 * the records that were written together: `seq` is the number of the last one, `at` the Unix time
 * in milliseconds at which the first of the calls began, and `body` null for heads alone. `records`
 * is null in a row of one record, as are all of the first version.
 */
export const RECORD_TABLES: Tables = {
  /** "SWYR" in ASCII. */
  application: 0x53575952,
  version: 2,
  create: `
create table record (
  seq integer primary key autoincrement,
  at integer not null,
  bytes integer not null,
  head blob not null,
  body blob,
  records integer
) strict;
create index record_at on record (at);
`,
  upgrade: () => "alter table record add column records integer;",
};
