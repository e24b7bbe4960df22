/**
 * Functions of the script that commits changes: they remove records until their type is within its
 * bounds.
 */
export const MAKE_ROOM = String.raw`
-- More are removed by further scripts, so that none keeps the server from others for long.
local removals = 500

local function score_of(index, member) return tonumber(call('ZSCORE', index, member) or 0) end

local function oldest_but(needing, index)
  for _, id in ipairs(call('ZRANGE', index, 0, 1)) do
    if id ~= needing then return id end
  end
end

-- Returns the oldest record of the creator that has most; of several of them, that of the given one.
local function oldest_of_largest(t, needing, own, index)
  for at = 0, call('ZCARD', index) - 1 do
    local share, size = unpack(call('ZRANGE', index, at, at, 'REV', 'WITHSCORES'))
    local oldest = oldest_but(needing, t.own .. share)
    if oldest then
      return score_of(index, own) == tonumber(size) and oldest_but(needing, t.own .. own) or oldest
    end
  end
end

local function next_to_drop(t, needing, own)
  local is_above = t.has_shares and
    (score_of(t.counts, own) > t.max_own_entries or score_of(t.sizes, own) > t.max_own_bytes)
  local oldest = is_above and oldest_but(needing, t.own .. own)
  if oldest then return oldest end
  local is_crowded = call('ZCARD', t.ages) > t.max_entries
  if not is_crowded and t.bytes <= t.max_bytes and t.heads <= t.max_heads then return nil end
  return t.room == 'largest_share' and
    oldest_of_largest(t, needing, own, is_crowded and t.counts or t.sizes) or oldest_but(needing, t.ages)
end

-- Returns false if there is more to be removed.
local function make_room(t, needing)
  for _, id in ipairs(call('ZRANGEBYSCORE', t.ends, '-inf', whole(now_ms), 'LIMIT', 0, removals)) do
    drop(t, id)
    removals = removals - 1
  end
  local record = live_record(t, needing)
  while record and removals > 0 do
    local id = next_to_drop(t, needing, record.share)
    if not id then return true end
    drop(t, id)
    removals = removals - 1
  end
  return removals > 0
end
`;
