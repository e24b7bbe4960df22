import type { Tables } from "../store/sqlite/tables.ts";

/**
 * Tables of a file of records: only number, time and size of a record can be read without a key.
 * `at` is the Unix time in milliseconds at which its call began; `body` is null for a head alone.
 */
export const RECORD_TABLES: Tables = {
  /** "SWYR" in ASCII. */
  application: 0x53575952,
  version: 1,
  create: `
create table record (
  seq integer primary key autoincrement,
  at integer not null,
  bytes integer not null,
  head blob not null,
  body blob
) strict;
create index record_at on record (at);
`,
  upgrade: () => "",
};
