import { newScript } from "../script.ts";
import { HEAD } from "./head.ts";

/**
 * Functions over reasoning. An entry is found by its key: creator, calls and text, encoded without
 * spaces. The index `ga` and that of each creator have the time of the last use. A group is a hash
 * of the texts with the same creator and calls; its empty field is there once there were several at
 * the same time. It expires with its youngest entry. Under `=` the sums have the bytes of each
 * creator.
 */
const REASONING = HEAD + String.raw`
local ages, sums = start .. 'ga', start .. 'gs'

local function parts_of(key) return key:match('^(%S+) (%S+) (%S+)$') end

local function content_of(key) return start .. 'g:' .. key end

local function ages_of(creator) return start .. 'gc:' .. creator end

local function group_of(creator, calls) return start .. 'gv:' .. creator .. ' ' .. calls end

local function count(creator, bytes)
  add_to(sums, '', bytes)
  add_to(sums, '=' .. creator, bytes)
end

local function drop(key)
  local creator, calls, text = parts_of(key)
  local size, group = redis.call('HGET', sums, 'b' .. key), group_of(creator, calls)
  redis.call('DEL', content_of(key))
  redis.call('ZREM', ages, key)
  redis.call('ZREM', ages_of(creator), key)
  redis.call('HDEL', sums, 'b' .. key)
  if size then count(creator, -size) end
  redis.call('HDEL', group, text)
  local is_ambiguous = redis.call('HEXISTS', group, '')
  if redis.call('HLEN', group) == is_ambiguous then redis.call('DEL', group) end
end

local function use(key, ttl)
  local creator, calls = parts_of(key)
  local score = whole(next_score(ages))
  redis.call('ZADD', ages, score, key)
  redis.call('ZADD', ages_of(creator), score, key)
  expire_in(ttl, ages, sums, ages_of(creator), group_of(creator, calls), content_of(key))
end
`;

/**
 * Arguments: lifetime, then for each lookup: creator and calls with a space between them, text
 * (empty without one). Returns the key and the record of each; nothing for one that is not found.
 * What is found is used.
 */
export const FIND_REASONING = newScript(
  REASONING + String.raw`
local ttl, found = ARGV[1], {}
for at = 2, #ARGV, 2 do
  local text = ARGV[at + 1]
  local group = start .. 'gv:' .. ARGV[at]
  if text == '' and redis.call('HEXISTS', group, '') == 0 then
    text = redis.call('HKEYS', group)[1] or ''
  end
  local key = ARGV[at] .. ' ' .. text
  local is_live = text ~= '' and not has_expired(redis.call('ZSCORE', ages, key), ttl)
  local record = is_live and redis.call('GET', content_of(key))
  if record then
    use(key, ttl)
    found[#found + 1] = {key, record}
  else
    found[#found + 1] = {}
  end
end
return found
`,
);

/**
 * Arguments: key, record (empty if it is too large), bytes, lifetime, maximum entries and bytes of a
 * creator, maximum entries and bytes. Returns entries and bytes.
 */
export const STORE_REASONING = newScript(
  REASONING + String.raw`
local key, record, size, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local creator, calls, text = parts_of(key)
local group = group_of(creator, calls)
require_memory(sums)
local is_ambiguous = redis.call('HEXISTS', group, '') == 1 or
  (redis.call('HLEN', group) > 0 and redis.call('HEXISTS', group, text) == 0)
for _, other in ipairs(expired_in(ages, ttl)) do drop(other) end
drop(key)
if record ~= '' then
  local own, sum = ages_of(creator), '=' .. creator
  local function is_full()
    return redis.call('ZCARD', own) >= tonumber(ARGV[5]) or
      tonumber(redis.call('HGET', sums, sum) or 0) + size > tonumber(ARGV[6])
  end
  while is_full() do
    local oldest = redis.call('ZRANGE', own, 0, 0)[1]
    if not oldest then redis.call('HDEL', sums, sum) break end
    drop(oldest)
  end
  redis.call('SET', content_of(key), record)
  redis.call('HSET', sums, 'b' .. key, size)
  count(creator, size)
  redis.call('HSET', group, text, '1')
  if is_ambiguous then redis.call('HSET', group, '', '1') end
  use(key, ttl)
  make_room(ages, sums, tonumber(ARGV[7]), tonumber(ARGV[8]), drop)
end
expire_in(ttl, sums)
return {redis.call('ZCARD', ages), sum_of(sums)}
`,
);
