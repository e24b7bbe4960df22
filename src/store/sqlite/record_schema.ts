import { RECORD_TYPES } from "../records/record_store.ts";

/**
 * Statements that create the tables of the records; see `RecordStore`. A row of `record_total`
 * counts the records of a type, and one of `share` those of a creator; triggers maintain both, and
 * remove a part with the last record that has it.
 *
 * `key` and `seq` of a record grow with its age in reverse: the youngest has the greatest. `seq` is
 * the number of the commit or lookup that made it the youngest, `version` that of its last change,
 * `given` that of the commit that gave a part to a record. `changed` is the Unix time in
 * milliseconds at which its lifetime began, `expires` the end of it; that of the counter is the
 * latest of all. Blobs are in the last columns, so that the rest of a row is read without them.
 */
const RECORD_TABLES = `
create table counter (last integer not null, changed integer not null) strict;
insert into counter values (0, 0);
create table record_total (
  type text primary key,
  entries integer not null default 0,
  bodies integer not null default 0,
  head_bytes integer not null default 0,
  bytes integer not null default 0
) strict, without rowid;
insert into record_total (type) values ${RECORD_TYPES.map((type) => `('${type}')`).join(", ")};

create table record (
  key integer primary key,
  type text not null,
  id text not null,
  version integer not null,
  seq integer not null,
  share text not null,
  changed integer not null,
  expires integer not null,
  head_bytes integer not null,
  bytes integer not null,
  has_body integer not null,
  head text not null,
  body blob,
  unique (type, id)
) strict;
create unique index record_age on record (type, seq);
create index record_of_share on record (type, share, seq);
create index record_expires on record (type, expires);

create table part (
  key integer primary key,
  type text not null,
  digest text not null,
  share text not null,
  bytes integer not null,
  names text not null,
  body blob not null,
  unique (type, digest)
) strict;

create table share (
  type text not null,
  share text not null,
  entries integer not null,
  bytes integer not null,
  primary key (type, share)
) strict, without rowid;
create index share_entries on share (type, entries);
create index share_bytes on share (type, bytes);
`;

/**
 * Statements that create the tables of the names of parts and of the records that have them.
 * Triggers keep both complete: foreign keys would look up both ends of each row.
 */
const LINK_TABLES = `
create table name (
  type text not null,
  name text not null,
  part integer not null,
  primary key (type, name, part)
) strict, without rowid;
create table holds (
  record integer not null,
  position integer not null,
  part integer not null,
  given integer not null,
  primary key (record, position)
) strict, without rowid;
create index holds_part on holds (part, record, position);
`;

const TRIGGERS = `
create trigger record_added after insert on record begin
  ${counted("new", { entries: 1, size: "new" })}
end;
create trigger record_resized after update of bytes, head_bytes, has_body on record begin
  ${counted("new", { entries: 0, size: "new", less: "old" })}
end;
create trigger record_removed after delete on record begin
  delete from holds where record = old.key;
  ${counted("old", { entries: -1, less: "old" })}
end;
create trigger part_added after insert on part begin
  update record_total set bytes = bytes + new.bytes where type = new.type;
  ${shared("new", "0", "new.bytes")}
end;
create trigger part_removed after delete on part begin
  delete from name where type = old.type and part = old.key and
    name in (select value from json_each(old.names));
  update record_total set bytes = bytes - old.bytes where type = old.type;
  ${shared("old", "0", "-old.bytes")}
end;
create trigger part_released after delete on holds
when not exists (select 1 from holds where part = old.part) begin
  delete from part where key = old.part;
end;
create trigger share_emptied after update on share when new.entries = 0 and new.bytes = 0 begin
  delete from share where type = new.type and share = new.share;
end;
`;

/** Statements that create all tables of the records. */
export const RECORD_SCHEMA: string = RECORD_TABLES + LINK_TABLES + TRIGGERS;

/** Statements that bring the tables of the records of version 4 to the current form. */
export const LIGHTER_RECORDS: string = `
alter table counter add column changed integer not null default 0;
update counter set changed = (select coalesce(max(changed), 0) from record);
${
  ["record_added", "record_resized", "record_removed", "part_added", "part_removed"]
    .concat("part_released", "share_emptied").map((trigger) => `drop trigger ${trigger};`).join("")
}
drop index record_changed;
drop index name_of_part;
drop index holds_part;
alter table name rename to earlier_name;
alter table holds rename to earlier_holds;
${LINK_TABLES}
insert into name select * from earlier_name;
insert into holds select * from earlier_holds;
drop table earlier_name;
drop table earlier_holds;
${TRIGGERS}
`;

interface Count {
  readonly entries: number;
  /** Row whose sizes are added. */
  readonly size?: "new";
  /** Row whose sizes are subtracted. */
  readonly less?: "old";
}

/** Returns the statements that count a change of a record for its type and its creator. */
function counted(row: "new" | "old", { entries, size, less }: Count): string {
  const change = (column: string) =>
    `${size === undefined ? "0" : `${size}.${column}`} - ${
      less === undefined ? "0" : `${less}.${column}`
    }`;
  return `
  update record_total set
      entries = entries + ${entries},
      bodies = bodies + ${change("has_body")},
      head_bytes = head_bytes + ${change("head_bytes")},
      bytes = bytes + ${change("bytes")}
    where type = ${row}.type;
  ${shared(row, `${entries}`, change("bytes"))}`;
}

function shared(row: "new" | "old", entries: string, bytes: string): string {
  return `insert into share values (${row}.type, ${row}.share, ${entries}, ${bytes})
    on conflict do update set entries = entries + excluded.entries, bytes = bytes + excluded.bytes;`;
}
