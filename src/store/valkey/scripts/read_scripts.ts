import { MAX_NAMED_PARTS } from "../../records/record_store.ts";
import { newScript } from "../script.ts";
import { RECORD_TABLES } from "./record_tables.ts";

/**
 * Arguments: milliseconds to renew (empty for none), content (`head`, `body`, `all` or `some`),
 * maximum bytes of the bodies of parts in the reply, number of the parts whose bodies are requested
 * and their keys, number of the known parts and their keys, then type and ID of each record.
 * Returns for each that exists: version, head, body, keys of the parts, and for each different part
 * its bytes, its names and its body.
 */
export const READ_RECORDS = newScript(
  RECORD_TABLES + String.raw`
local renew, content, rest = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])

local function take_keys(at)
  local keys, next_at = {}, at + 1 + ARGV[at]
  for index = at + 1, next_at - 1 do keys[ARGV[index]] = true end
  return keys, next_at
end

local wanted, known, first
wanted, first = take_keys(4)
known, first = take_keys(first)

-- While the memory of the server is full, nothing is renewed.
local function may_write(t)
  if t.may_write == nil then
    t.may_write = type(redis.pcall('HINCRBY', t.sums, 'order', 0)) == 'number'
  end
  return t.may_write
end

local function parts_of(t, keys)
  local facts = call_all('HMGET', t.facts, each_after('z', keys))
  local sizes, names, bodies, places, read = {}, {}, {}, {}, {}
  for at, key in ipairs(keys) do
    local bytes = tonumber((facts[at] or '0'):match('^%d+'))
    sizes[at], names[at], bodies[at] = bytes, not known[key] and call('HGET', t.facts, 'n' .. key), false
    if known[key] and call('EXISTS', t.part .. key) == 0 then sizes[at] = 0 end
    local is_wanted = (content == 'all' or wanted[key]) and not known[key]
    if is_wanted and bytes <= rest and #read < MAX_ARGUMENTS then
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
 * Arguments: type, maximum number of uses of each name, maximum bytes of bodies in the reply,
 * names. Returns the number of names that were looked up; uses as four numbers each: index of the
 * name, of the part, of the record, and place of the part in the record; ID, head and age of each
 * record; key and bytes of each part; body of each part.
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
