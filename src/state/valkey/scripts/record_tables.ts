/**
 * Beginning of the scripts over records. The only declared key is the start of all keys: it leads to the node of a cluster
 * that has them, and the scripts form the names of further keys. The server's clock decides about ages and ends.
 *
 * Keys of the records of one type: `a` and `e` have the age of each record in microseconds, unique in the type, and its
 * end in milliseconds. The hash `f` has of a record under `v` its version, bytes and creator, under `h` its head and
 * under `l` the age at which it was given its parts and their keys; of a part under `z` its bytes and, once a record has
 * had it, its creator, and under `n` its names. `x` has a member for each part of a record, `g` the number of the last
 * giving of each part to a record, `n` a member for each name of a part, `w` the parts that are written and that no record
 * has had, by their end, `o` the removed parts whose names are not removed yet, `s` the sums. `c` and `d` have the records
 * and bytes of each creator, `y:` the ages of the records of one. Each body (`b:`) and each part (`p:`) is one key, which
 * expires by itself with the youngest record that has it.
 */
export const RECORD_TABLES = String.raw`
local start = KEYS[1]
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local now_ms = math.floor(now / 1000)
local call = redis.call
local MAX_ARGUMENTS = 4000

local function whole(number) return string.format('%.0f', number) end

-- Calls a command with many arguments several times.
local function call_all(command, key, arguments)
  local values = {}
  for first = 1, #arguments, MAX_ARGUMENTS do
    local last = math.min(first + MAX_ARGUMENTS - 1, #arguments)
    local reply = call(command, key, unpack(arguments, first, last))
    if type(reply) == 'table' then for _, value in ipairs(reply) do values[#values + 1] = value end end
  end
  return values
end

local function last_until(key, ends)
  local rest = whole(math.max(1, ends - now_ms))
  if call('PEXPIRE', key, rest, 'GT') == 0 then call('PEXPIRE', key, rest, 'NX') end
end

local tables = {}

local function table_of(type)
  if tables[type] then return tables[type] end
  local key = start .. type .. ':'
  local sums = call('HMGET', key .. 's', 'order', 'given', 'bodies', 'heads', 'bytes')
  for at = 1, 5 do sums[at] = tonumber(sums[at] or 0) end
  local opened = {
    key = key, ages = key .. 'a', ends = key .. 'e', facts = key .. 'f', givings = key .. 'g', names = key .. 'n',
    waiting = key .. 'w', old = key .. 'o', sums = key .. 's', counts = key .. 'c', sizes = key .. 'd',
    holders = key .. 'x', body = key .. 'b:', part = key .. 'p:', own = key .. 'y:',
    order = sums[1], given = sums[2], bodies = sums[3], heads = sums[4], bytes = sums[5], last = 0, named = 0,
  }
  tables[type] = opened
  return opened
end

local function save(t)
  call('HSET', t.sums, 'order', whole(t.order), 'given', whole(t.given), 'bodies', whole(t.bodies),
    'heads', whole(t.heads), 'bytes', whole(math.max(0, t.bytes)))
  if t.last == 0 then t.last = now_ms + call('PTTL', t.sums) end
  for _, letter in ipairs({'a', 'e', 'f', 'g', 'n', 'x', 'w', 'o', 's', 'c', 'd'}) do
    last_until(t.key .. letter, t.last)
  end
end

-- Fails while the memory of the server is full, before anything is changed.
local function require_memory(t) call('HINCRBY', t.sums, 'order', 0) end

local function next_order(t)
  t.order = math.max(now, t.order + 1)
  return t.order
end

-- Returns also a record that has expired and is not removed yet.
local function record_of(t, id)
  local fact, list = unpack(call('HMGET', t.facts, 'v' .. id, 'l' .. id))
  if not fact then return nil end
  local version, heads, body, share = fact:match('^(%d+) (%d+) (%-?%d+) (.*)$')
  local ends = tonumber(call('ZSCORE', t.ends, id) or 0)
  local given, keys = (list or '0 '):match('^(%d+) (.*)$')
  return {
    version = version, heads = tonumber(heads), body = tonumber(body), share = share, given = given, list = keys,
    ends = ends, is_live = ends > now_ms,
  }
end

local function live_record(t, id)
  local record = record_of(t, id)
  return record and record.is_live and record or nil
end

-- Returns the keys, the last place of each, and the number of places.
local function keys_in(list)
  local keys, places, length = {}, {}, 0
  for key in list:gmatch('%S+') do
    if not places[key] then keys[#keys + 1] = key end
    places[key] = length
    length = length + 1
  end
  return keys, places, length
end

local function facts_of(t, letter, keys)
  local fields = {}
  for at, key in ipairs(keys) do fields[at] = letter .. key end
  return call_all('HMGET', t.facts, fields)
end

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

local function write_part(t, key, bytes, names, body, ends)
  local rest = math.max(ends - now_ms, call('PTTL', t.part .. key), 1)
  call('SET', t.part .. key, body, 'PX', whole(rest))
  if call('HEXISTS', t.facts, 'z' .. key) == 1 then return end
  call('HSET', t.facts, 'z' .. key, bytes)
  call('ZADD', t.waiting, whole(ends), key)
  if names == '' then return end
  call('HSET', t.facts, 'n' .. key, names)
  local members, scored = members_of(key, names), {}
  for at, member in ipairs(members) do scored[2 * at - 1], scored[2 * at] = 0, member end
  t.named = t.named + #members
  call_all('ZADD', t.names, scored)
end

-- Its names are removed later.
local function drop_part(t, key)
  local fact = call('HGET', t.facts, 'z' .. key)
  call('DEL', t.part .. key)
  if not fact then return end
  local bytes, is_counted, share = fact:match('^(%d+)( ?)(.*)$')
  if is_counted ~= '' then count(t, share, 0, -bytes) end
  call('HDEL', t.facts, 'z' .. key)
  call('HDEL', t.givings, key)
  call('ZREM', t.waiting, key)
  if call('HEXISTS', t.facts, 'n' .. key) == 1 then call('ZADD', t.old, whole(now), key) end
end

local function remove_names(t, most)
  while most > 0 do
    local key = call('ZRANGE', t.old, 0, 0)[1]
    if not key then return end
    call('ZREM', t.old, key)
    -- Otherwise the part is stored again.
    if call('HEXISTS', t.facts, 'z' .. key) == 0 then
      local members = members_of(key, call('HGET', t.facts, 'n' .. key) or '')
      call_all('ZREM', t.names, members)
      call('HDEL', t.facts, 'n' .. key)
      most = most - #members
    end
  end
end

-- Returns the members of a record that was given its parts at this age; those of one part are in the order of ages.
local function holders_of(id, given, keys, places)
  local members, tail = {}, ' ' .. id
  for at, key in ipairs(keys) do members[at] = key .. ' ' .. given .. ' ' .. places[key] .. tail end
  return members
end

local function has_holder(t, key)
  return #call('ZRANGE', t.holders, '[' .. key .. ' ', '(' .. key .. '!', 'BYLEX', 'LIMIT', 0, 1) > 0
end

-- Gives parts to a record.
local function hold(t, id, share, given, keys, places)
  local scored = {}
  for at, member in ipairs(holders_of(id, given, keys, places)) do scored[2 * at - 1], scored[2 * at] = 0, member end
  call_all('ZADD', t.holders, scored)
  local facts, counted = facts_of(t, 'z', keys), {}
  for at, key in ipairs(keys) do
    local fact = facts[at]
    if fact and not fact:find(' ', 1, true) then
      counted[#counted + 1], counted[#counted + 2] = 'z' .. key, fact .. ' ' .. share
      call('ZREM', t.waiting, key)
      count(t, share, 0, tonumber(fact))
    end
  end
  call_all('HSET', t.facts, counted)
end

-- Takes the parts of a record away that it had before it got the new places.
local function release(t, id, record, hold_new, places)
  local keys, before = keys_in(record.list)
  call_all('ZREM', t.holders, holders_of(id, record.given, keys, before))
  if hold_new then hold_new() end
  for _, key in ipairs(keys) do
    if not places[key] and not has_holder(t, key) then drop_part(t, key) end
  end
end

-- Makes a record the youngest, or gives it the age that it has.
local function place(t, id, share, keys, age, ends)
  t.last = math.max(t.last, ends)
  call('ZADD', t.ages, whole(age), id)
  call('ZADD', t.ends, whole(ends), id)
  last_until(t.body .. id, ends)
  for _, key in ipairs(keys) do last_until(t.part .. key, ends) end
  if not t.has_shares then return end
  call('ZADD', t.own .. share, whole(age), id)
  last_until(t.own .. share, ends)
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
  release(t, id, record, nil, {})
end

-- Removes parts of commits that were not completed, and names of removed parts: more than the script has added.
local function sweep(t)
  for _, key in ipairs(call('ZRANGEBYSCORE', t.waiting, '-inf', whole(now_ms), 'LIMIT', 0, 100)) do
    drop_part(t, key)
  end
  remove_names(t, 500 + 2 * t.named)
end
`;
