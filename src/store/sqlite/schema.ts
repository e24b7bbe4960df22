import { LIGHTER_RECORDS, RECORD_SCHEMA } from "./record_schema.ts";
import type { Tables } from "./tables.ts";

/** Marks a database file as one of this program: "SWYD" in ASCII. */
const APPLICATION_CODE = 0x53575944;

/**
 * Version of the tables in a database file. Versions 1 and 2 had other tables for each type of
 * object; version 3 has no values of privacy rules; version 4 has further indexes and foreign keys.
 */
const MAX_SCHEMA_VERSION = 5;

/** The first version with tables of records. */
const MIN_RECORDS_VERSION = 3;

/**
 * Statements that replace the tables of objects by those of records. Stored objects last for half
 * an hour at most, so they are dropped; sums and usage stay.
 */
const REPLACE_OBJECTS = `
drop table response_item;
drop table item;
drop table response;
drop table binding;
drop table conversation_item;
drop table conversation;
drop table reasoning;
drop table reasoning_creator;
drop table reasoning_calls;
drop table cached_response;
delete from total where name <> 'quotas';
${RECORD_SCHEMA}
`;

/** Statements that add a type of records. */
const ADD_PRIVACY_VALUES = "insert into record_total (type) values ('privacy_values');";

/**
 * Statements that create all tables. `total` has the number and bytes of the sums of quotas, which
 * triggers maintain; the records have totals of their own. `changed` is the Unix time in
 * milliseconds of the last change.
 */
const SCHEMA = `
create table total (
  name text primary key,
  entries integer not null default 0,
  bytes integer not null default 0
) strict, without rowid;
insert into total (name) values ('quotas');

create table spent (
  caller text not null,
  window text not null,
  amount integer not null,
  bytes integer not null,
  changed integer not null,
  expires integer not null,
  primary key (caller, window)
) strict, without rowid;
create index spent_changed on spent (changed);
create index spent_expires on spent (expires);
create table settled (
  seq integer primary key autoincrement,
  call text not null unique,
  expires integer not null
) strict;
create index settled_expires on settled (expires);

create table usage (
  day text not null,
  key text not null,
  provider text not null,
  model text not null,
  calls integer not null,
  input integer not null,
  output integer not null,
  cached integer not null,
  nano_usd integer not null,
  estimated integer not null,
  primary key (day, key, provider, model)
) strict, without rowid;

create trigger spent_added after insert on spent begin
  update total set entries = entries + 1, bytes = bytes + new.bytes;
end;
create trigger spent_changed after update of bytes on spent begin
  update total set bytes = bytes + new.bytes - old.bytes;
end;
create trigger spent_removed after delete on spent begin
  update total set entries = entries - 1, bytes = bytes - old.bytes;
end;

${RECORD_SCHEMA}
`;

/** Tables of the state store. */
export const STATE_TABLES: Tables = {
  application: APPLICATION_CODE,
  version: MAX_SCHEMA_VERSION,
  create: SCHEMA,
  upgrade(version) {
    if (version < MIN_RECORDS_VERSION) return REPLACE_OBJECTS;
    return version === MIN_RECORDS_VERSION ? ADD_PRIVACY_VALUES + LIGHTER_RECORDS : LIGHTER_RECORDS;
  },
};
