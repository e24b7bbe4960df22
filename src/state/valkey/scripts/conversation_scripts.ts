import { newScript } from "../script.ts";
import { HEAD } from "./head.ts";

/**
 * Functions over conversations. Each is one hash: `h` creator and time of creation, `m` and `mz` the
 * metadata and their bytes, `k` the number of items, `n` the number of the next item, `v` and `z`
 * with the number of an item its record and its bytes, `=` with the ID of an item its number, `p` the
 * time at which the pointers were extended. A pointer leads from the ID of an item to its
 * conversations. It lasts for two lifetimes, so that a change extends all pointers of a conversation
 * only if none has done so for one lifetime.
 */
const CONVERSATIONS = HEAD + String.raw`
local ages, sums = start .. 'ca', start .. 'cs'

local function key_of(id) return start .. 'c:' .. id end

local function pointers_of(name) return start .. 'ci:' .. name end

local function names_in(key)
  local names = {}
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if field:sub(1, 1) == '=' then names[#names + 1] = field end
  end
  return names
end

local function drop(id)
  local key, size = key_of(id), redis.call('HGET', sums, 'b' .. id)
  for _, name in ipairs(names_in(key)) do redis.call('ZREM', pointers_of(name), id) end
  redis.call('DEL', key)
  redis.call('ZREM', ages, id)
  redis.call('HDEL', sums, 'b' .. id)
  if size then add_to(sums, '', -size) end
end

local function is_there(id, ttl)
  return not has_expired(redis.call('ZSCORE', ages, id), ttl) and
    redis.call('EXISTS', key_of(id)) == 1
end

local function size_of(id) return tonumber(redis.call('HGET', sums, 'b' .. id) or 0) end

local function resize(id, size)
  add_to(sums, '', size - size_of(id))
  redis.call('HSET', sums, 'b' .. id, whole(size))
end

local function point(id, names, ttl)
  local extended = tonumber(redis.call('HGET', key_of(id), 'p') or 0)
  if now - extended > ttl * 1000 then
    names = names_in(key_of(id))
    redis.call('HSET', key_of(id), 'p', whole(now))
  end
  for _, name in ipairs(names) do
    local pointers = pointers_of(name)
    redis.call('ZREMRANGEBYSCORE', pointers, '-inf', whole(now - 2 * ttl * 1000))
    redis.call('ZADD', pointers, whole(now), id)
    redis.call('PEXPIRE', pointers, 2 * ttl)
  end
end

-- Items are groups of three from ARGV[at] on: name (empty without an ID), bytes, record.
local function bytes_from(at)
  local bytes = 0
  for item = at, #ARGV, 3 do bytes = bytes + ARGV[item + 1] end
  return bytes
end

local function add_items(id, at, ttl)
  local key, names = key_of(id), {}
  for item = at, #ARGV, 3 do
    local number = redis.call('HINCRBY', key, 'n', 1)
    redis.call('HSET', key, 'v' .. number, ARGV[item + 2], 'z' .. number, ARGV[item + 1])
    if ARGV[item] ~= '' then
      redis.call('HSET', key, ARGV[item], number)
      names[#names + 1] = ARGV[item]
    end
  end
  redis.call('HINCRBY', key, 'k', (#ARGV - at + 1) / 3)
  point(id, names, ttl)
end

-- Makes the conversation the last changed one and returns it.
local function changed(id, ttl, entries, bytes)
  redis.call('ZADD', ages, whole(next_score(ages)), id)
  for _, other in ipairs(expired_in(ages, ttl)) do drop(other) end
  make_room(ages, sums, entries, bytes, drop)
  expire_in(ttl, key_of(id), ages, sums)
  return {'ok', redis.call('ZCARD', ages), sum_of(sums), size_of(id), redis.call('HGETALL', key_of(id))}
end
`;

/** The first arguments of a change: ID, lifetime, maximum entries and bytes. */
const CHANGE = CONVERSATIONS + String.raw`
local id, ttl, entries, bytes = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
`;

/** Further arguments: head, metadata and their bytes, bytes of the head, items. */
export const CREATE_CONVERSATION = newScript(
  CHANGE + String.raw`
require_memory(sums)
drop(id)
redis.call('HSET', key_of(id), 'h', ARGV[5], 'm', ARGV[6], 'mz', ARGV[7])
resize(id, ARGV[7] + ARGV[8] + bytes_from(9))
add_items(id, 9, ttl)
return changed(id, ttl, entries, bytes)
`,
);

/** Arguments: ID, lifetime. Returns the size and the fields; nothing if there is no conversation. */
export const FIND_CONVERSATION = newScript(
  CONVERSATIONS + String.raw`
if not is_there(ARGV[1], ARGV[2]) then return {} end
return {size_of(ARGV[1]), redis.call('HGETALL', key_of(ARGV[1]))}
`,
);

/** Further arguments: metadata and their bytes. */
export const SET_METADATA = newScript(
  CHANGE + String.raw`
if not is_there(id, ttl) then return {'unknown'} end
local size = size_of(id) - redis.call('HGET', key_of(id), 'mz') + ARGV[6]
if size > bytes then return {'large'} end
require_memory(sums)
redis.call('HSET', key_of(id), 'm', ARGV[5], 'mz', ARGV[6])
resize(id, size)
point(id, {}, ttl)
return changed(id, ttl, entries, bytes)
`,
);

/** Further arguments: maximum number of items, items. */
export const APPEND_ITEMS = newScript(
  CHANGE + String.raw`
if not is_there(id, ttl) then return {'unknown'} end
local count = tonumber(redis.call('HGET', key_of(id), 'k'))
if count + (#ARGV - 5) / 3 > tonumber(ARGV[5]) then return {'full'} end
local seen = {}
for item = 6, #ARGV, 3 do
  local name = ARGV[item]
  if name ~= '' then
    if seen[name] or redis.call('HEXISTS', key_of(id), name) == 1 then return {'duplicate'} end
    seen[name] = true
  end
end
local size = size_of(id) + bytes_from(6)
if size > bytes then return {'large'} end
require_memory(sums)
resize(id, size)
add_items(id, 6, ttl)
return changed(id, ttl, entries, bytes)
`,
);

/** Further argument: name of the item. */
export const REMOVE_ITEM = newScript(
  CHANGE + String.raw`
if not is_there(id, ttl) then return {'unknown'} end
local key, name = key_of(id), ARGV[5]
local number = redis.call('HGET', key, name)
if not number then return {'no item'} end
require_memory(sums)
resize(id, size_of(id) - redis.call('HGET', key, 'z' .. number))
redis.call('HDEL', key, name, 'v' .. number, 'z' .. number)
redis.call('HINCRBY', key, 'k', -1)
redis.call('ZREM', pointers_of(name), id)
point(id, {}, ttl)
return changed(id, ttl, entries, bytes)
`,
);

/** Arguments: ID, lifetime. Returns 1 if there was a conversation, with the entries and bytes. */
export const DELETE_CONVERSATION = newScript(
  CONVERSATIONS + String.raw`
local was_there = is_there(ARGV[1], ARGV[2])
drop(ARGV[1])
return {was_there and 1 or 0, redis.call('ZCARD', ages), sum_of(sums)}
`,
);

/**
 * Arguments: lifetime, youngest uses to examine of each item, names of items. Returns for each item that is found a list: name, ID of its
 * conversation, head, record, time of the last change, number of the item.
 */
export const FIND_CONVERSATION_ITEMS = newScript(
  CONVERSATIONS + String.raw`
local found = {}
for at = 3, #ARGV do
  for _, id in ipairs(redis.call('ZRANGE', pointers_of(ARGV[at]), -ARGV[2], -1)) do
    local number = is_there(id, ARGV[1]) and redis.call('HGET', key_of(id), ARGV[at])
    if number then
      local head, record = unpack(redis.call('HMGET', key_of(id), 'h', 'v' .. number))
      found[#found + 1] = {ARGV[at], id, head, record, redis.call('ZSCORE', ages, id), number}
    end
  end
end
return found
`,
);
