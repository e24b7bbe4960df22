/**
 * Functions over stored responses. A response has its resource, a list of the digests of its items,
 * and an age. Items are stored once for all responses: the set `u:` has the ages of the responses
 * that use an item, `n:` the digests of the items with one ID. The hash has the bytes and the list
 * of each response, the bytes and the ID of each item, and the sum of all bytes under the empty
 * field. What holds content expires by itself with the youngest response that uses it; the hash and
 * the index last longer, so that the bytes of expired responses are counted back.
 */
export const SNAPSHOTS = String.raw`
local facts, ages = start .. 's:m', start .. 's'

local function drop_item(digest)
  local known = redis.call('HGET', facts, 'i' .. digest)
  redis.call('DEL', start .. 'i:' .. digest, start .. 'u:' .. digest)
  if not known then return end
  local bytes, name = known:match('^(%d+) (.*)$')
  redis.call('HDEL', facts, 'i' .. digest)
  add_to(facts, '', -bytes)
  if name ~= '' then redis.call('SREM', start .. 'n:' .. name, digest) end
end

local function release(list, score)
  for digest in list:gmatch('%S+') do
    local users = start .. 'u:' .. digest
    redis.call('SREM', users, score)
    if redis.call('EXISTS', users) == 0 then drop_item(digest) end
  end
end

local function drop_snapshot(id)
  local score = redis.call('ZSCORE', ages, id)
  local list, size = unpack(redis.call('HMGET', facts, 'l' .. id, 'b' .. id))
  redis.call('DEL', start .. 'r:' .. id)
  redis.call('ZREM', ages, id)
  redis.call('HDEL', facts, 'l' .. id, 'b' .. id)
  if size then add_to(facts, '', -size:match('^%d+')) end
  if list and score then release(list, whole(tonumber(score))) end
end

local function snapshot_sizes() return redis.call('ZCARD', ages), sum_of(facts) end

-- Items are groups of four from ARGV[at] on: digest, bytes, name, record. Records that are stored
-- already may be empty.
local function missing_items(at)
  local missing = {}
  for item = at, #ARGV, 4 do
    if ARGV[item + 3] == '' and redis.call('EXISTS', start .. 'i:' .. ARGV[item]) == 0 then
      missing[#missing + 1] = ARGV[item]
    end
  end
  return missing
end

local function use_items(at, score, ttl)
  for item = at, #ARGV, 4 do
    local digest, size, name, record = ARGV[item], ARGV[item + 1], ARGV[item + 2], ARGV[item + 3]
    local key, users = start .. 'i:' .. digest, start .. 'u:' .. digest
    if record == '' then redis.call('PEXPIRE', key, ttl)
    else redis.call('SET', key, record, 'PX', ttl) end
    redis.call('SADD', users, score)
    redis.call('PEXPIRE', users, ttl)
    if redis.call('HSETNX', facts, 'i' .. digest, size .. ' ' .. name) == 1 then
      add_to(facts, '', size)
    end
    if name ~= '' then
      redis.call('SADD', start .. 'n:' .. name, digest)
      redis.call('PEXPIRE', start .. 'n:' .. name, ttl)
    end
  end
end

-- The items are in use already: an earlier response of the ID may have the same ones.
local function set_snapshot(id, score, resource, size, inputs, list, ttl, entries, bytes)
  drop_snapshot(id)
  redis.call('SET', start .. 'r:' .. id, resource, 'PX', ttl)
  redis.call('ZADD', ages, score, id)
  redis.call('HSET', facts, 'l' .. id, list, 'b' .. id, size .. ' ' .. inputs)
  add_to(facts, '', size)
  for _, other in ipairs(expired_in(ages, ttl)) do drop_snapshot(other) end
  make_room(ages, facts, entries, bytes, drop_snapshot)
  expire_in(ttl, facts, ages)
end
`;
