import { newScript } from "../script.ts";
import { RECORD_CHANGES } from "./record_changes.ts";
import { MAKE_ROOM } from "./record_room.ts";
import { RECORD_TABLES } from "./record_tables.ts";

/**
 * Arguments: type, lifetime in milliseconds of parts that no record gets, then key, bytes, names
 * (each with a NUL at its end) and body of each part.
 */
export const WRITE_PARTS = newScript(
  RECORD_TABLES + RECORD_CHANGES + String.raw`
local t, ends = table_of(ARGV[1]), now_ms + ARGV[2]
require_memory(t)
t.last = ends
for at = 3, #ARGV, 4 do
  local key = ARGV[at]
  write_part(t, call('HGET', t.facts, 'z' .. key), key, ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ends)
end
sweep(t)
save(t)
return 1
`,
);

/**
 * Arguments: number of types; of each its name, maximum entries, bytes and bytes of heads of all
 * records, and entries and bytes of those of one creator, and which record makes room (empty
 * without shares of creators); number of changes; of each its type, ID, expected version (empty for
 * none, `any`), and one of
 * - `remove`;
 * - `room`: only makes room for the record;
 * - `set`, head, bytes of ID and head, creator, lifetime in milliseconds (empty to keep age and
 *   end), keys of the parts (`keep` as a list: `=`), number of the parts with a body, of each its
 *   key, bytes, names and body; bytes of the body (-1 for none, `=` to keep it) and the body.
 *   Returns `changed`; `missing` and keys of parts; or `done`, 1 if there is more to be removed,
 *   and for each type the numbers of records and of bodies, the bytes of heads and of all.
 */
export const COMMIT_RECORDS = newScript(
  RECORD_TABLES + RECORD_CHANGES + MAKE_ROOM + String.raw`
local next_argument = 0
local function take()
  next_argument = next_argument + 1
  return ARGV[next_argument]
end

local types, changes = {}, {}
for at = 1, tonumber(take()) do
  local t = table_of(take())
  types[at] = t
  t.max_entries, t.max_bytes, t.max_heads = tonumber(take()), tonumber(take()), tonumber(take())
  t.max_own_entries, t.max_own_bytes = tonumber(take()), tonumber(take())
  t.room = take()
  t.has_shares = t.room ~= ''
end
for at = 1, tonumber(take()) do
  local change = {t = table_of(take()), id = take(), expected = take(), action = take(), parts = {}, brought = {}}
  changes[at] = change
  if change.action == 'set' then
    change.head, change.heads, change.share, change.life = take(), tonumber(take()), take(), tonumber(take())
    change.list = take()
    if change.list ~= '=' then change.keys, change.places = keys_in(change.list) end
    for part = 1, tonumber(take()) do
      change.parts[part] = {take(), take(), take(), take()}
      change.brought[change.parts[part][1]] = part
    end
    change.bytes, change.body = take(), take()
  end
end

for _, change in ipairs(changes) do
  local record = live_record(change.t, change.id)
  local version = record and record.version or ''
  if change.expected ~= 'any' and change.expected ~= version then return {'changed'} end
end

local missing = {}
for _, change in ipairs(changes) do
  local t, keys = change.t, change.keys or {}
  change.facts = call_all('HMGET', t.facts, each_after('z', keys))
  for at, key in ipairs(keys) do
    local is_stored = change.brought[key] or (change.facts[at] and call('EXISTS', t.part .. key) == 1)
    if not is_stored then missing[#missing + 1] = key end
  end
end
if #missing > 0 then return {'missing', missing} end

local function set(change)
  local t, id = change.t, change.id
  local before = record_of(t, id)
  if before and not before.is_live then
    drop(t, id)
    before = nil
  end
  local version = next_order(t)
  local age, ends = version, now_ms + (change.life or 0)
  if before and not change.life then age, ends = tonumber(call('ZSCORE', t.ages, id)), before.ends end
  local share = before and before.share or change.share

  local given, list, keys = before and before.given, before and before.list or '', change.keys
  if keys then
    local old_keys, old_places = keys_in(list)
    local facts = t.is_changed and call_all('HMGET', t.facts, each_after('z', keys)) or change.facts
    for at, key in ipairs(keys) do
      local part = change.parts[change.brought[key]]
      if part then facts[at] = write_part(t, facts[at], key, part[2], part[3], part[4], ends) end
    end
    if before then call_all('ZREM', t.holders, holders_of(id, given, old_keys, old_places)) end
    given, list = string.format('%016.0f', version), change.list
    hold(t, id, share, given, keys, change.places, facts)
    drop_free(t, old_keys, change.places)
    t.is_changed = true
  end

  local bytes = before and before.body or -1
  if change.bytes == '-1' then call('DEL', t.body .. id)
  elseif change.bytes ~= '=' then call('SET', t.body .. id, change.body) end
  if change.bytes ~= '=' then bytes = tonumber(change.bytes) end
  local fact = table.concat({whole(version), change.heads, bytes, share}, ' ')
  if list == '' then
    call('HSET', t.facts, 'v' .. id, fact, 'h' .. id, change.head)
    if before then call('HDEL', t.facts, 'l' .. id) end
  else call('HSET', t.facts, 'v' .. id, fact, 'h' .. id, change.head, 'l' .. id, given .. ' ' .. list) end
  place(t, id, share, change.keys or (change.life and keys_in(list)) or {}, age, ends)
  local earlier = before or {heads = 0, body = -1}
  t.heads = t.heads + change.heads - earlier.heads
  t.bodies = t.bodies + (bytes >= 0 and 1 or 0) - (earlier.body >= 0 and 1 or 0)
  count(t, share, before and 0 or 1,
    change.heads + math.max(0, bytes) - earlier.heads - math.max(0, earlier.body))
end

for _, t in ipairs(types) do require_memory(t) end
for _, change in ipairs(changes) do
  if change.action == 'set' then set(change) end
  if change.action == 'remove' then drop(change.t, change.id) end
end
local has_more = 0
for _, change in ipairs(changes) do
  if change.action ~= 'remove' and not make_room(change.t, change.id) then has_more = 1 end
end
local reply = {'done', has_more}
for _, t in ipairs(types) do
  sweep(t)
  save(t)
  for _, size in ipairs({call('ZCARD', t.ages), t.bodies, t.heads, t.bytes}) do reply[#reply + 1] = size end
end
return reply
`,
);
