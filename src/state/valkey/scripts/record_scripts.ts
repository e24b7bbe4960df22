import { MAX_NAMED_PARTS } from "../../records/record_store.ts";
import { newScript } from "../script.ts";
import { RECORD_CHANGES } from "./record_changes.ts";
import { MAKE_ROOM } from "./record_room.ts";
import { RECORD_TABLES } from "./record_tables.ts";

/**
 * Arguments: milliseconds to renew (empty for none), content (`head`, `body`, `all` or `some`), maximum bytes of the
 * bodies of parts in the reply, number of the parts whose bodies are requested and their keys, then type and ID of each
 * record. Returns for each that exists: version, head, body, keys of the parts, and for each different part its bytes, its
 * names and its body.
 */
export const READ_RECORDS = newScript(
  RECORD_TABLES + String.raw`
local renew, content, rest = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local wanted, first = {}, 5 + ARGV[4]
for at = 5, first - 1 do wanted[ARGV[at]] = true end

-- While the memory of the server is full, nothing is renewed.
local function may_write(t)
  if t.may_write == nil then
    t.may_write = type(redis.pcall('HINCRBY', t.sums, 'order', 0)) == 'number'
  end
  return t.may_write
end

local function parts_of(t, keys)
  local facts, names = call_all('HMGET', t.facts, each_after('z', keys)), call_all('HMGET', t.facts, each_after('n', keys))
  local sizes, bodies, places, read = {}, {}, {}, {}
  for at, key in ipairs(keys) do
    local bytes = tonumber((facts[at] or '0'):match('^%d+'))
    sizes[at], bodies[at] = bytes, false
    if (content == 'all' or wanted[key]) and bytes <= rest and #read < MAX_ARGUMENTS then
      places[#places + 1], read[#read + 1] = at, t.part .. key
      rest = rest - bytes
    end
  end
  local values = #read > 0 and call_all('MGET', read[1], {unpack(read, 2)}) or {}
  for index, at in ipairs(places) do bodies[at] = values[index] end
  return sizes, names, bodies
end

local found = {}
for at = first, #ARGV, 2 do
  local t, id = table_of(ARGV[at]), ARGV[at + 1]
  local record = live_record(t, id)
  local entry = {}
  if record then
    local has_parts = content == 'all' or content == 'some'
    local keys = (renew or has_parts) and keys_in(record.list)
    if renew and may_write(t) then
      t.has_shares = call('EXISTS', t.own .. record.share) == 1
      local age, ends = next_order(t), now_ms + renew
      place(t, id, record.share, keys, age, ends)
    end
    entry = {record.version, call('HGET', t.facts, 'h' .. id)}
    if content ~= 'head' then entry[3] = record.body >= 0 and call('GET', t.body .. id) end
    if has_parts then
      entry[4] = record.list
      entry[5], entry[6], entry[7] = parts_of(t, keys)
    end
  end
  found[#found + 1] = entry
end
for _, t in pairs(tables) do
  if t.may_write then save(t) end
end
return found
`,
);

/**
 * Arguments: type, maximum number of uses of each name, maximum bytes of bodies in the reply, names. Returns the number of
 * names that were looked up; uses as four numbers each: index of the name, of the part, of the record, and place of the part
 * in the record; ID, head and age of each record; key and bytes of each part; body of each part.
 */
export const READ_NAMED = newScript(
  RECORD_TABLES + String.raw`
local MAX_EXAMINED, MAX_CANDIDATES, MAX_PARTS = 20000, 4000, ${MAX_NAMED_PARTS}
local t, most, rest = table_of(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local uses, records, keys, bodies = {}, {}, {}, {}
local record_indexes, part_indexes = {}, {}

local function holders_of(key, number)
  return call('ZRANGE', t.holders, '(' .. key .. '!', '[' .. key .. ' ', 'BYLEX', 'REV', 'LIMIT', 0, number)
end

local function index_of_part(key)
  if part_indexes[key] then return part_indexes[key] end
  local at = #bodies + 1
  local bytes = tonumber((call('HGET', t.facts, 'z' .. key) or '0'):match('^%d+'))
  keys[2 * at - 1], keys[2 * at], bodies[at], part_indexes[key] = key, bytes, false, at
  if bytes <= rest then
    bodies[at] = call('GET', t.part .. key)
    rest = rest - bytes
  end
  return at
end

-- Returns 0 for a record that has expired.
local function index_of_record(id)
  if record_indexes[id] then return record_indexes[id] end
  local at = 0
  if tonumber(call('ZSCORE', t.ends, id) or 0) > now_ms then
    at = #records / 3 + 1
    for _, value in ipairs({id, call('HGET', t.facts, 'h' .. id), call('ZSCORE', t.ages, id)}) do
      records[#records + 1] = value
    end
  end
  record_indexes[id] = at
  return at
end

-- Returns the keys of the parts with a name, the one that was given to a record last first.
local function parts_named(name)
  local members = call('ZRANGE', t.names, '[' .. name .. '\0', '(' .. name .. '\1', 'BYLEX', 'LIMIT', 0, MAX_CANDIDATES)
  local parts = {}
  for _, member in ipairs(members) do
    local key = member:sub(#name + 2)
    local holder = holders_of(key, 1)[1]
    if holder then
      local given, place = holder:match('^%S+ (%d+) (%d+) ')
      parts[#parts + 1] = {key = key, given = tonumber(given), place = tonumber(place)}
    end
  end
  table.sort(parts, function(one, other)
    if one.given ~= other.given then return one.given > other.given end
    return one.place > other.place
  end)
  return parts, #members
end

local examined, at = 0, 4
while ARGV[at] and examined < MAX_EXAMINED do
  local parts, candidates = parts_named(ARGV[at])
  local left = most
  for index = 1, math.min(#parts, MAX_PARTS) do
    if left == 0 then break end
    local key = parts[index].key
    for _, holder in ipairs(holders_of(key, left)) do
      local place, id = holder:sub(#key + 2):match('^%d+ (%d+) (.*)$')
      local record = index_of_record(id)
      if record > 0 then
        for _, value in ipairs({at - 4, index_of_part(key), record, tonumber(place)}) do uses[#uses + 1] = value end
        left = left - 1
      end
    end
  end
  examined = examined + candidates + most - left + 1
  at = at + 1
end
return {at - 4, uses, records, keys, bodies}
`,
);

/**
 * Arguments: type, lifetime in milliseconds of parts that no record gets, then key, bytes, names (each with a NUL at its
 * end) and body of each part.
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
 * Arguments: number of types; of each its name, maximum entries and bytes of all records and of those of one creator, and
 * which record makes room (empty without shares of creators); number of changes; of each its type, ID, expected
 * version (empty for none, `any`), and one of
 * - `remove`;
 * - `room`: only makes room for the record;
 * - `set`, head, bytes of ID and head, creator, lifetime in milliseconds (empty to keep age and end), keys of the parts
 *   (`keep` as a list: `=`), number of the parts with a body, of each its key, bytes, names and body; bytes of the body
 *   (-1 for none, `=` to keep it) and the body.
 * Returns `changed`; `missing` and keys of parts; or `done`, 1 if there is more to be removed, and for each type the
 * numbers of records and of bodies, the bytes of heads and of all.
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
  t.max_entries, t.max_bytes = tonumber(take()), tonumber(take())
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
