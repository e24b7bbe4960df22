/**
 * Beginning of all scripts. The only declared key is the start of all keys: it leads to the node of
 * a cluster that has them, and the scripts form the names of further keys. The server's clock
 * decides about ages. Ages are scores in microseconds, unique in an index, so that they also are the
 * order of the changes.
 */
export const HEAD = String.raw`
local start = KEYS[1]
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local SWEPT = 20

local function whole(number) return string.format('%.0f', number) end

local function has_expired(score, ttl) return not score or now - tonumber(score) >= ttl * 1000 end

local function next_score(index)
  local last = redis.call('ZRANGE', index, -1, -1, 'WITHSCORES')[2]
  return math.max(now, tonumber(last or 0) + 1)
end

local function expired_in(index, ttl)
  return redis.call('ZRANGEBYSCORE', index, '-inf', whole(now - ttl * 1000), 'LIMIT', 0, SWEPT)
end

local function add_to(hash, field, number) redis.call('HINCRBY', hash, field, whole(number)) end

local function sum_of(hash) return tonumber(redis.call('HGET', hash, '') or 0) end

-- Fails while the memory of the server is full, before anything is changed.
local function require_memory(hash) redis.call('HINCRBY', hash, '', 0) end

local function make_room(index, sums, entries, bytes, drop)
  while redis.call('ZCARD', index) > entries or sum_of(sums) > bytes do
    local oldest = redis.call('ZRANGE', index, 0, 0)[1]
    if not oldest then redis.call('DEL', sums) return end
    drop(oldest)
  end
end

local function expire_in(ttl, ...)
  for _, key in ipairs({...}) do redis.call('PEXPIRE', key, ttl) end
end

local function get_all(keys)
  local values = {}
  for first = 1, #keys, 5000 do
    local last = math.min(first + 4999, #keys)
    for _, value in ipairs(redis.call('MGET', unpack(keys, first, last))) do
      values[#values + 1] = value
    end
  end
  return values
end
`;
