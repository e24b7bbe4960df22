/**
 * Beginning of the scripts over records. The only declared key is the start of all keys: it leads
 * to the node of a cluster that has them, and the scripts form the names of further keys. The
 * server's clock decides about ages and ends.
 *
 * Keys of the records of one type: `a` and `e` have the age of each record in microseconds, unique
 * in the type, and its end in milliseconds. The hash `f` has of a record under `v` its version,
 * bytes and creator, under `h` its head and under `l` the version with which it was given its
 * parts, and their keys; of a part under `z` its bytes and, once a record has had it, its creator,
 * and under `n` its names. `x` has a member for each part of a record, `n` one for each name of a
 * part. `w` has the parts that no record has: those that were written, by their end, and under 0
 * those that were removed, until their names are. `s` has the sums, `c` and `d` the records and
 * bytes of each creator, `y:` the ages of the records of one. Each body (`b:`) and each part (`p:`)
 * is one key, which expires by itself with the youngest record that has it.
 */
export const RECORD_TABLES = String.raw`
local start = KEYS[1]
local call = redis.call
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local now_ms = math.floor(now / 1000)
local MAX_ARGUMENTS = 4000

local function whole(number) return string.format('%.0f', number) end

-- Calls a command with a list of arguments, several times if it is long. Returns the values of all replies.
local function call_all(command, key, arguments)
  if #arguments == 0 then return {} end
  if #arguments <= MAX_ARGUMENTS then return call(command, key, unpack(arguments)) end
  local values = {}
  for first = 1, #arguments, MAX_ARGUMENTS do
    local reply = call(command, key, unpack(arguments, first, math.min(first + MAX_ARGUMENTS - 1, #arguments)))
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
  local sums = call('HMGET', key .. 's', 'order', 'bodies', 'heads', 'bytes')
  local opened = {
    key = key, ages = key .. 'a', ends = key .. 'e', facts = key .. 'f', holders = key .. 'x', names = key .. 'n',
    unheld = key .. 'w', sums = key .. 's', counts = key .. 'c', sizes = key .. 'd',
    body = key .. 'b:', part = key .. 'p:', own = key .. 'y:',
    order = tonumber(sums[1] or 0), bodies = tonumber(sums[2] or 0),
    heads = tonumber(sums[3] or 0), bytes = tonumber(sums[4] or 0),
    last = 0, named = 0,
  }
  tables[type] = opened
  return opened
end

local function save(t)
  call('HSET', t.sums, 'order', whole(t.order), 'bodies', math.max(0, t.bodies), 'heads', whole(math.max(0, t.heads)),
    'bytes', whole(math.max(0, t.bytes)))
  if t.last == 0 then t.last = now_ms + call('PTTL', t.sums) end
  for _, key in ipairs({t.ages, t.ends, t.facts, t.holders, t.names, t.unheld, t.sums}) do last_until(key, t.last) end
  if not t.has_shares then return end
  last_until(t.counts, t.last)
  last_until(t.sizes, t.last)
end

local function next_order(t)
  t.order = math.max(now, t.order + 1)
  return t.order
end

-- Returns also a record that has expired and is not removed yet.
local function record_of(t, id)
  local fact, parts = unpack(call('HMGET', t.facts, 'v' .. id, 'l' .. id))
  if not fact then return nil end
  local version, heads, body, share = fact:match('^(%d+) (%d+) (%-?%d+) (.*)$')
  local space = parts and parts:find(' ', 1, true)
  local ends = tonumber(call('ZSCORE', t.ends, id) or 0)
  return {
    version = version, heads = tonumber(heads), body = tonumber(body), share = share,
    given = parts and parts:sub(1, space - 1) or '0', list = parts and parts:sub(space + 1) or '',
    ends = ends, is_live = ends > now_ms,
  }
end

local function live_record(t, id)
  local record = record_of(t, id)
  return record and record.is_live and record or nil
end

-- Returns the keys, and the last place of each.
local function keys_in(list)
  local keys, places, length = {}, {}, 0
  for key in list:gmatch('[^ ]+') do
    if not places[key] then keys[#keys + 1] = key end
    places[key] = length
    length = length + 1
  end
  return keys, places
end

local function each_after(prefix, keys)
  local values = {}
  for at = 1, #keys do values[at] = prefix .. keys[at] end
  return values
end

-- Makes a record the youngest, or gives it the age that it has. Its content lasts as long.
local function place(t, id, share, keys, age, ends)
  t.last = math.max(t.last, ends)
  call('ZADD', t.ages, whole(age), id)
  call('ZADD', t.ends, ends, id)
  last_until(t.body .. id, ends)
  for at = 1, #keys do last_until(t.part .. keys[at], ends) end
  if not t.has_shares then return end
  call('ZADD', t.own .. share, whole(age), id)
  last_until(t.own .. share, ends)
end
`;
