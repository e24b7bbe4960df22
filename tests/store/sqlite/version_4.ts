/** Statements that create the tables of the records as version 4 has written them. */
export const RECORD_TABLES_4 = `
create table counter (last integer not null) strict;
insert into counter values (0);
create table record_total (
  type text primary key,
  entries integer not null default 0,
  bodies integer not null default 0,
  head_bytes integer not null default 0,
  bytes integer not null default 0
) strict, without rowid;
insert into record_total (type) values ('response'), ('conversation'), ('reasoning'), ('completion_owner'), ('conversation_owner'), ('relayed_owner'), ('cached_response'), ('privacy_values');

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
  update record_total set entries=entries+1, bodies=bodies+new.has_body - 0, head_bytes=head_bytes+new.head_bytes - 0, bytes=bytes+new.bytes - 0 where type=new.type; insert into share values (new.type, new.share, 1, new.bytes - 0) on conflict do update set entries = entries + excluded.entries, bytes = bytes + excluded.bytes;
end;
create trigger record_resized after update of bytes, head_bytes, has_body on record begin
  update record_total set entries=entries+0, bodies=bodies+new.has_body - old.has_body, head_bytes=head_bytes+new.head_bytes - old.head_bytes, bytes=bytes+new.bytes - old.bytes where type=new.type; insert into share values (new.type, new.share, 0, new.bytes - old.bytes) on conflict do update set entries = entries + excluded.entries, bytes = bytes + excluded.bytes;
end;
create trigger record_removed after delete on record begin
  update record_total set entries=entries+-1, bodies=bodies+0 - old.has_body, head_bytes=head_bytes+0 - old.head_bytes, bytes=bytes+0 - old.bytes where type=old.type; insert into share values (old.type, old.share, -1, 0 - old.bytes) on conflict do update set entries = entries + excluded.entries, bytes = bytes + excluded.bytes;
end;
create trigger part_added after insert on part begin
  update record_total set bytes = bytes + new.bytes where type = new.type;
  insert into share values (new.type, new.share, 0, new.bytes) on conflict do update set entries = entries + excluded.entries, bytes = bytes + excluded.bytes;
end;
create trigger part_removed after delete on part begin
  update record_total set bytes = bytes - old.bytes where type = old.type;
  insert into share values (old.type, old.share, 0, -old.bytes) on conflict do update set entries = entries + excluded.entries, bytes = bytes + excluded.bytes;
end;
create trigger part_released after delete on holds
when not exists (select 1 from holds where part = old.part) begin
  delete from part where key = old.part;
end;
create trigger share_emptied after update on share when new.entries = 0 and new.bytes = 0 begin
  delete from share where type = new.type and share = new.share;
end;
`;
