import { RECORD_TYPES } from "../records/record_store.ts";

/**
 * Statements that create the tables of the records; see `RecordStore`. A row of `record_total`
 * counts the records of a type, and one of `share` those of a creator; triggers maintain both, and
 * remove a part with the last record that has it.
 *
 * `key` and `seq` of a record grow with its age in reverse: the youngest has the greatest. `seq` is
 * the number of the commit or lookup that made it the youngest, `version` that of its last change,
 * `given` that of the commit that gave a part to a record. `changed` is the Unix time in
 * milliseconds at which its lifetime began, `expires` the end of it. Blobs are in the last columns,
 * so that the rest of a row is read without them.
 */
export const RECORD_SCHEMA = `
create table counter (last integer not null) strict;
insert into counter values (0);
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
create index record_changed on record (changed);

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
create table name (
  type text not null,
  name text not null,
  part integer not null references part on delete cascade,
  primary key (type, name, part)
) strict, without rowid;
create index name_of_part on name (part);
create table holds (
  record integer not null references record on delete cascade deferrable initially deferred,
  position integer not null,
  part integer not null references part,
  given integer not null,
  primary key (record, position)
) strict, without rowid;
create index holds_part on holds (part, record, position);

create table share (
  type text not null,
  share text not null,
  entries integer not null,
  bytes integer not null,
  primary key (type, share)
) strict, without rowid;
create index share_entries on share (type, entries);
create index share_bytes on share (type, bytes);

create trigger record_added after insert on record begin
  ${counted("new", { entries: 1, size: "new" })}
end;
create trigger record_resized after update of bytes, head_bytes, has_body on record begin
  ${counted("new", { entries: 0, size: "new", less: "old" })}
end;
create trigger record_removed after delete on record begin
  ${counted("old", { entries: -1, less: "old" })}
end;
create trigger part_added after insert on part begin
  update record_total set bytes = bytes + new.bytes where type = new.type;
  ${shared("new", "0", "new.bytes")}
end;
create trigger part_removed after delete on part begin
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
