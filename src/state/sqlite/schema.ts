import { RECORD_SCHEMA } from "./record_schema.ts";

/** Marks a database file as one of this program: "SWYD" in ASCII. */
export const APPLICATION_CODE = 0x53575944;

/**
 * Statements that bring the tables of a database file to the next version: the first ones those of
 * version 1 to version 2.
 */
const UPGRADES = [
  `
  insert or ignore into total (name, entries, bytes)
    select 'relayed_object_bindings', count(*), coalesce(sum(bytes), 0)
    from binding where type = 'relayed_object';
`,
  RECORD_SCHEMA,
];

/** Version of the tables in a database file. */
export const MAX_SCHEMA_VERSION = 1 + UPGRADES.length;

/** Returns the statements that bring tables of an earlier version to the current one. */
export function upgradesFrom(version: number): string {
  return UPGRADES.slice(version - 1).join("");
}

/**
 * Statements that create all tables. `seq` orders the records of a table, the youngest last; `bytes`
 * is the size of a record that counts against the bounds; `changed` is the Unix time in
 * milliseconds at which its lifetime began. Triggers maintain the sums in `total`, and
 * remove a response with its binding and an item with the last response that has it.
 */
export const SCHEMA = `
create table total (
  name text primary key,
  entries integer not null default 0,
  bytes integer not null default 0
) strict, without rowid;
insert into total (name) values
  ('responses'), ('conversations'), ('reasoning'), ('chat_completion_bindings'),
  ('response_bindings'), ('conversation_bindings'), ('relayed_object_bindings'),
  ('cached_responses'), ('quotas');

create table binding (
  type text not null,
  id text not null,
  seq integer not null,
  body text not null,
  bytes integer not null,
  changed integer not null,
  primary key (type, id)
) strict, without rowid;
create unique index binding_seq on binding (type, seq);
create index binding_changed on binding (changed);

create table response (
  key integer primary key,
  id text not null unique,
  resource blob not null,
  inputs integer not null,
  bytes integer not null,
  changed integer not null
) strict;
create index response_changed on response (changed);
create table item (
  key integer primary key,
  digest text not null unique,
  item_id text,
  body blob not null,
  bytes integer not null
) strict;
create index item_id on item (item_id);
create table response_item (
  response integer not null references response on delete cascade deferrable initially deferred,
  position integer not null,
  item integer not null references item,
  primary key (response, position)
) strict, without rowid;
create index response_item_item on response_item (item);

create table conversation (
  key integer primary key,
  id text not null unique,
  seq integer not null unique,
  creator text not null,
  created integer not null,
  metadata blob not null,
  metadata_bytes integer not null,
  bytes integer not null,
  changed integer not null
) strict;
create index conversation_changed on conversation (changed);
create table conversation_item (
  key integer primary key,
  conversation integer not null references conversation on delete cascade,
  position integer not null,
  item_id text,
  body blob not null,
  bytes integer not null,
  unique (conversation, position)
) strict;
create index conversation_item_id on conversation_item (item_id);

create table reasoning (
  key text primary key,
  seq integer not null unique,
  creator text not null,
  calls text not null,
  body blob not null,
  bytes integer not null,
  changed integer not null
) strict;
create index reasoning_of_creator on reasoning (creator, seq);
create index reasoning_of_calls on reasoning (calls);
create index reasoning_changed on reasoning (changed);
create table reasoning_creator (
  creator text primary key,
  entries integer not null,
  bytes integer not null
) strict, without rowid;
create table reasoning_calls (
  calls text primary key,
  entries integer not null,
  ambiguous integer not null default 0
) strict, without rowid;

create table cached_response (
  key text primary key,
  seq integer not null unique,
  body blob not null,
  bytes integer not null,
  changed integer not null,
  expires integer not null
) strict;
create index cached_response_expires on cached_response (expires);

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

${sums("binding", "new.type || '_bindings'", "old.type || '_bindings'")}
${sums("response", "'responses'", "'responses'")}
${sums("conversation", "'conversations'", "'conversations'")}
${sums("reasoning", "'reasoning'", "'reasoning'")}
${sums("cached_response", "'cached_responses'", "'cached_responses'")}
${sums("spent", "'quotas'", "'quotas'")}

create trigger item_added after insert on item begin
  update total set bytes = bytes + new.bytes where name = 'responses';
end;
create trigger item_removed after delete on item begin
  update total set bytes = bytes - old.bytes where name = 'responses';
end;
create trigger response_item_removed after delete on response_item
when not exists (select 1 from response_item where item = old.item) begin
  delete from item where key = old.item;
end;
create trigger response_unbound after delete on binding when old.type = 'response' begin
  delete from response where id = old.id;
end;

create trigger reasoning_shared after insert on reasoning begin
  insert into reasoning_creator values (new.creator, 1, new.bytes)
    on conflict do update set entries = entries + 1, bytes = bytes + excluded.bytes;
  insert into reasoning_calls (calls, entries) values (new.calls, 1)
    on conflict do update set entries = entries + 1;
end;
create trigger reasoning_unshared after delete on reasoning begin
  update reasoning_creator set entries = entries - 1, bytes = bytes - old.bytes
    where creator = old.creator;
  delete from reasoning_creator where creator = old.creator and entries = 0;
  update reasoning_calls set entries = entries - 1 where calls = old.calls;
  delete from reasoning_calls where calls = old.calls and entries = 0;
end;

${RECORD_SCHEMA}
`;

/** Returns the triggers that count the records of a table in `total`. */
function sums(table: string, added: string, removed: string): string {
  return `
create trigger ${table}_added after insert on ${table} begin
  update total set entries = entries + 1, bytes = bytes + new.bytes where name = ${added};
end;
create trigger ${table}_changed after update of bytes on ${table} begin
  update total set bytes = bytes + new.bytes - old.bytes where name = ${added};
end;
create trigger ${table}_removed after delete on ${table} begin
  update total set entries = entries - 1, bytes = bytes - old.bytes where name = ${removed};
end;`;
}
