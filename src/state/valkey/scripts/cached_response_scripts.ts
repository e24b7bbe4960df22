import { newScript } from "../script.ts";
import { HEAD } from "./head.ts";

/**
 * Functions over cached responses: an index of their ages, an index of the times in milliseconds at
 * which they expire, as each has its own lifetime, and the bytes.
 */
const CACHED_RESPONSES = HEAD + String.raw`
local ages, ends, sums = start .. 'aa', start .. 'ae', start .. 'as'

local function drop(key)
  local size = redis.call('HGET', sums, 'b' .. key)
  redis.call('DEL', start .. 'a:' .. key)
  redis.call('ZREM', ages, key)
  redis.call('ZREM', ends, key)
  redis.call('HDEL', sums, 'b' .. key)
  if size then add_to(sums, '', -size) end
end

local function last_until(ttl, ...)
  for _, key in ipairs({...}) do
    if redis.call('PTTL', key) < ttl then redis.call('PEXPIRE', key, ttl) end
  end
end
`;

/** Arguments: key, record, bytes, lifetime, maximum entries and bytes. */
export const SET_CACHED_RESPONSE = newScript(
  CACHED_RESPONSES + String.raw`
local key, record, size, ttl = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
require_memory(sums)
drop(key)
local ended = redis.call('ZRANGEBYSCORE', ends, '-inf', whole(now / 1000), 'LIMIT', 0, SWEPT)
for _, other in ipairs(ended) do drop(other) end
redis.call('SET', start .. 'a:' .. key, record, 'PX', ttl)
redis.call('ZADD', ages, whole(next_score(ages)), key)
redis.call('ZADD', ends, whole(now / 1000 + ttl), key)
redis.call('HSET', sums, 'b' .. key, size)
add_to(sums, '', size)
make_room(ages, sums, tonumber(ARGV[5]), tonumber(ARGV[6]), drop)
last_until(ttl, ages, ends, sums)
return 1
`,
);
