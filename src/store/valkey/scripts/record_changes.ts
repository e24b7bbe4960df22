/** Functions of the scripts that write records and parts. */
export const RECORD_CHANGES = String.raw`
-- Fails while the memory of the server is full, before anything is changed.
local function require_memory(t) call('HINCRBY', t.sums, 'order', 0) end

local function count(t, share, records, bytes)
  t.bytes = t.bytes + bytes
  if not t.has_shares then return end
  for key, number in pairs({[t.counts] = records, [t.sizes] = bytes}) do
    if number ~= 0 and tonumber(call('ZADD', key, 'INCR', whole(number), share)) <= 0 then
      call('ZREM', key, share)
    end
  end
end

local function members_of(key, names)
  local members = {}
  for name in names:gmatch('([^%z]*)%z') do members[#members + 1] = name .. '\0' .. key end
  return members
end

local function scored(members)
  local arguments = {}
  for at, member in ipairs(members) do arguments[2 * at - 1], arguments[2 * at] = 0, member end
  return arguments
end

-- A fact is what is known of the part already.
local function write_part(t, fact, key, bytes, names, body, ends)
  local rest = math.max(1, ends - now_ms)
  if fact then rest = math.max(rest, call('PTTL', t.part .. key)) end
  call('SET', t.part .. key, body, 'PX', whole(rest))
  if fact then return fact end
  call('ZADD', t.unheld, ends, key)
  if names == '' then
    call('HSET', t.facts, 'z' .. key, bytes)
    return bytes
  end
  call('HSET', t.facts, 'z' .. key, bytes, 'n' .. key, names)
  local members = members_of(key, names)
  t.named = t.named + #members
  call_all('ZADD', t.names, scored(members))
  return bytes
end

-- Its names are removed later.
local function drop_part(t, key)
  local fact = call('HGET', t.facts, 'z' .. key)
  t.is_changed = true
  call('DEL', t.part .. key)
  if not fact then return end
  local bytes, is_counted, share = fact:match('^(%d+)( ?)(.*)$')
  if is_counted ~= '' then count(t, share, 0, -bytes) end
  call('HDEL', t.facts, 'z' .. key)
  call('ZADD', t.unheld, 0, key)
end

-- Removes parts of commits that were not completed, and names of removed parts: more than the script has added.
local function sweep(t)
  local most = 500 + 2 * t.named
  while most > 0 do
    local key = call('ZRANGEBYSCORE', t.unheld, '-inf', now_ms, 'LIMIT', 0, 1)[1]
    if not key then return end
    local members = members_of(key, call('HGET', t.facts, 'n' .. key) or '')
    call_all('ZREM', t.names, members)
    call('DEL', t.part .. key)
    call('HDEL', t.facts, 'z' .. key, 'n' .. key)
    call('ZREM', t.unheld, key)
    most = most - #members - 10
  end
end

-- Returns the members of a record that has these parts. Those of a part are in the order of the versions.
local function holders_of(id, given, keys, places)
  local members, middle, tail = {}, ' ' .. given .. ' ', ' ' .. id
  for at, key in ipairs(keys) do members[at] = key .. middle .. places[key] .. tail end
  return members
end

-- Gives parts to a record.
local function hold(t, id, share, given, keys, places, facts)
  call_all('ZADD', t.holders, scored(holders_of(id, given, keys, places)))
  local counted = {}
  for at, key in ipairs(keys) do
    local fact = facts[at]
    if fact and not fact:find(' ', 1, true) then
      counted[#counted + 1] = 'z' .. key
      counted[#counted + 1] = fact .. ' ' .. share
      call('ZREM', t.unheld, key)
      count(t, share, 0, tonumber(fact))
    end
  end
  call_all('HSET', t.facts, counted)
end

-- Removes the parts that no record has.
local function drop_free(t, keys, is_kept)
  for _, key in ipairs(keys) do
    local range = not is_kept[key] and
      call('ZRANGE', t.holders, '[' .. key .. ' ', '(' .. key .. '!', 'BYLEX', 'LIMIT', 0, 1)
    if range and #range == 0 then drop_part(t, key) end
  end
end

local function drop(t, id)
  local record = record_of(t, id)
  call('ZREM', t.ages, id)
  call('ZREM', t.ends, id)
  if not record then return end
  call('HDEL', t.facts, 'v' .. id, 'h' .. id, 'l' .. id)
  call('DEL', t.body .. id)
  if t.has_shares then call('ZREM', t.own .. record.share, id) end
  if record.body >= 0 then t.bodies = t.bodies - 1 end
  t.heads = t.heads - record.heads
  count(t, record.share, -1, -record.heads - math.max(0, record.body))
  local keys, places = keys_in(record.list)
  call_all('ZREM', t.holders, holders_of(id, record.given, keys, places))
  drop_free(t, keys, {})
end
`;
