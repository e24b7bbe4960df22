import { newScript } from "./script.ts";

/** Maximum number of sums of one caller; the ones that end last are removed first. */
const MAX_CALLER_SUMS = 10_000;

/**
 * Time of the server in microseconds, so that replicas with different clocks agree. It is counted
 * from a later year than 1970, because the fractions of a larger number are less exact. Tests
 * replace this text to script the time.
 */
export const SERVER_TIME = `local t = redis.call('TIME')
local now = (t[1] - 1700000000) * 1000000 + t[2]
local ms = math.floor(now / 1000)`;

/** Begin of the time of the server in the scripts, in Unix milliseconds. */
export const SERVER_EPOCH_MS = 1_700_000_000_000;

/** Maximum milliseconds between the assumed time of the server and its own one. */
const MAX_CLOCK_ERROR_MS = 5_000;

/** Tolerance for rounding errors in microseconds: times have this many digits. */
const MAX_ROUNDING_US = 0.1;

/**
 * Milliseconds after which a bucket is full and needs no key. Tests whose time is scripted replace
 * this text, because keys expire in the time of the server.
 */
export const BUCKET_TTL = "math.ceil(lacking / 1000) + 1";

/** Buckets as in memory: each is stored as the time at which it will be full. */
const BUCKETS = `
local function lacking_of(key, now, most)
  return math.min(math.max(0, tonumber(redis.call('GET', key) or now) - now), most)
end
local function store(key, now, lacking)
  redis.call('SET', key, string.format('%.3f', now + lacking), 'PX', ${BUCKET_TTL})
end
local function left_of(whole, lacking, per)
  return math.floor((whole - lacking + ${MAX_ROUNDING_US}) / per)
end`;

/**
 * Admits a call to several scopes, or takes nothing. Keys of each scope: requests, tokens, leases,
 * sums. Arguments: call, milliseconds of a lease, number of scopes, the time by which the windows
 * of the budgets were chosen (negative without budgets): if the server has another time, nothing is
 * taken, and the result is `clock` with that time. Then of each scope microseconds of a request (0
 * without a rate) and burst, the same of tokens, their maximum debt, maximum of concurrent calls
 * (-1 without one), number of budgets; then window and limit of each budget. Returns the result,
 * the index of the scope that refuses and of its budget, the milliseconds to wait, and of each
 * scope the remaining requests and tokens and the sums.
 */
export const ADMIT_TEXT = `${SERVER_TIME}
${BUCKETS}
local kind, by, budget, wait = 'admitted', 0, 0, 0
local rests, takes = {}, {}
local assumed = tonumber(ARGV[4])
if assumed >= 0 and math.abs(ms - assumed) > ${MAX_CLOCK_ERROR_MS} then return { 'clock', ms } end
local at = 5
local function refuse(reason, scope, index, milliseconds)
  if kind == 'admitted' then kind, by, budget, wait = reason, scope, index, milliseconds end
end
for scope = 0, tonumber(ARGV[3]) - 1 do
  local key = scope * 4
  local per, burst, tper, tburst = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local debt, slots, budgets = tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5]), tonumber(ARGV[at + 6])
  at = at + 7
  local sums = {}
  for index = 0, budgets - 1 do
    local sum = redis.call('HGET', KEYS[key + 4], ARGV[at]) or '0'
    sums[index + 1] = sum
    if tonumber(sum) >= tonumber(ARGV[at + 1]) then refuse('budget', scope, index, 0) end
    at = at + 2
  end
  local tokens = 0
  if tper > 0 then
    local whole = tburst * tper
    local lacking = lacking_of(KEYS[key + 2], now, whole + debt)
    tokens = left_of(whole, lacking, tper)
    local waiting = lacking - (whole - tper)
    if waiting > ${MAX_ROUNDING_US} then refuse('tokens', scope, 0, math.ceil(waiting / 1000)) end
  end
  if slots >= 0 then
    redis.call('ZREMRANGEBYSCORE', KEYS[key + 3], '-inf', ms)
    if redis.call('ZCARD', KEYS[key + 3]) >= slots then refuse('concurrency', scope, 0, 1000) end
  end
  local requests, after = 0, 0
  if per > 0 then
    local whole = burst * per
    local lacking = lacking_of(KEYS[key + 1], now, whole)
    requests = left_of(whole, lacking, per)
    local waiting = lacking - (whole - per)
    if waiting > ${MAX_ROUNDING_US} then refuse('requests', scope, 0, math.ceil(waiting / 1000)) end
    takes[scope] = lacking + per
    after = left_of(whole, lacking + per, per)
  end
  rests[scope + 1] = { requests, tokens, sums, slots, after }
end
local reply = { kind, by, budget, wait }
for index, rest in ipairs(rests) do
  local scope = index - 1
  if kind == 'admitted' then
    if rest[4] >= 0 then
      redis.call('ZADD', KEYS[scope * 4 + 3], ms + ARGV[2], ARGV[1])
      redis.call('PEXPIRE', KEYS[scope * 4 + 3], ARGV[2])
    end
    if takes[scope] then store(KEYS[scope * 4 + 1], now, takes[scope]) end
  end
  reply[#reply + 1] = kind == 'admitted' and rest[5] or rest[1]
  reply[#reply + 1] = rest[2]
  for _, sum in ipairs(rest[3]) do reply[#reply + 1] = sum end
end
return reply`;

/**
 * Counts what a call has used, once. Keys: mark of the call; then of each caller tokens, leases,
 * sums, ends of sums. Arguments: call, milliseconds to remember it, number of callers; then of each
 * caller whether it holds a concurrent call, microseconds of a token (0 without a rate), burst,
 * maximum debt, used tokens, number of amounts; then window, amount and milliseconds of each
 * amount.
 */
export const SETTLE_TEXT = `${SERVER_TIME}
${BUCKETS}
local callers = tonumber(ARGV[3])
local at = 4
local starts = {}
for caller = 1, callers do
  starts[caller] = at
  if ARGV[at] == '1' then redis.call('ZREM', KEYS[caller * 4 - 1], ARGV[1]) end
  at = at + 6 + 3 * tonumber(ARGV[at + 5])
end
if not redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[2]) then return 0 end
for caller = 1, callers do
  local from = starts[caller]
  local tokens, sums, ends = KEYS[caller * 4 - 2], KEYS[caller * 4], KEYS[caller * 4 + 1]
  local per, burst, debt, used = tonumber(ARGV[from + 1]), tonumber(ARGV[from + 2]), tonumber(ARGV[from + 3]), tonumber(ARGV[from + 4])
  if per > 0 and used > 0 then
    local most = burst * per + debt
    store(tokens, now, math.min(lacking_of(tokens, now, most) + used * per, most))
  end
  local amounts = tonumber(ARGV[from + 5])
  if amounts > 0 then
    for _, ended in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', ms)) do
      redis.call('HDEL', sums, ended)
      redis.call('ZREM', ends, ended)
    end
    for index = 0, amounts - 1 do
      local window, amount, ttl = ARGV[from + 6 + index * 3], tonumber(ARGV[from + 7 + index * 3]), tonumber(ARGV[from + 8 + index * 3])
      local sum = math.min(tonumber(redis.call('HGET', sums, window) or 0) + amount, 9007199254740991)
      redis.call('HSET', sums, window, string.format('%.0f', sum))
      redis.call('ZADD', ends, 'GT', ms + ttl, window)
    end
    for _, removed in ipairs(redis.call('ZRANGE', ends, ${MAX_CALLER_SUMS}, -1)) do
      redis.call('HDEL', sums, removed)
      redis.call('ZREM', ends, removed)
    end
    local last = redis.call('ZRANGE', ends, -1, -1, 'WITHSCORES')[2]
    redis.call('PEXPIRE', sums, math.ceil(last - ms))
    redis.call('PEXPIRE', ends, math.ceil(last - ms))
  end
end
return 1`;

/**
 * Extends leases that have not ended. Keys: leases of each call. Arguments: milliseconds of a
 * lease, calls.
 */
export const RENEW_TEXT = `${SERVER_TIME}
for index, leases in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', leases, '-inf', ms)
  redis.call('ZADD', leases, 'XX', ms + ARGV[1], ARGV[index + 1])
  redis.call('PEXPIRE', leases, ARGV[1])
end
return 1`;

/** Ends leases. Keys: leases of each call. Arguments: calls. */
const RELEASE_TEXT = `for index, leases in ipairs(KEYS) do
  redis.call('ZREM', leases, ARGV[index])
end
return 1`;

/** Returns windows and sums of each caller. Keys: sums and ends of sums of each caller. */
export const SPENT_TEXT = `${SERVER_TIME}
local reply = {}
for index = 1, #KEYS, 2 do
  local found = {}
  for _, window in ipairs(redis.call('ZRANGEBYSCORE', KEYS[index + 1], '(' .. ms, '+inf')) do
    found[#found + 1] = window
    found[#found + 1] = redis.call('HGET', KEYS[index], window) or '0'
  end
  reply[#reply + 1] = found
end
return reply`;

export const ADMIT = newScript(ADMIT_TEXT);
export const SETTLE = newScript(SETTLE_TEXT);
export const RENEW = newScript(RENEW_TEXT);
export const RELEASE = newScript(RELEASE_TEXT);
export const SPENT = newScript(SPENT_TEXT);
