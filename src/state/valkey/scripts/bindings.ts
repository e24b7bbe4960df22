/**
 * Functions over the bindings of one type: a hash of their JSON texts by ID, with the sum of the
 * bytes under the empty field, and an index of their ages. `drop_snapshot` removes what is stored
 * under an ID that has no owner any more.
 */
export const BINDINGS = String.raw`
local function keys_of(type) return start .. 'b:' .. type, start .. 'b:' .. type .. ':z' end

local function binding_of(type, id, ttl)
  local texts, index = keys_of(type)
  if has_expired(redis.call('ZSCORE', index, id), ttl) then return '' end
  return redis.call('HGET', texts, '=' .. id) or ''
end

local function drop_text(type, id)
  local texts, index = keys_of(type)
  local text = redis.call('HGET', texts, '=' .. id)
  redis.call('ZREM', index, id)
  if not text then return end
  redis.call('HDEL', texts, '=' .. id)
  add_to(texts, '', -(#id + #text))
end

local function drop_binding(type, id)
  drop_text(type, id)
  drop_snapshot(id)
end

local function set_binding(type, id, text, ttl, entries, bytes)
  local texts, index = keys_of(type)
  local score = next_score(index)
  drop_text(type, id)
  redis.call('ZADD', index, whole(score), id)
  redis.call('HSET', texts, '=' .. id, text)
  add_to(texts, '', #id + #text)
  local function drop(other) drop_binding(type, other) end
  for _, other in ipairs(expired_in(index, ttl)) do drop(other) end
  make_room(index, texts, entries, bytes, drop)
  expire_in(ttl, texts, index)
end

-- Also those of the stored responses, which a change of a binding may have removed.
local function sizes_of(type)
  local texts, index = keys_of(type)
  return {'ok', redis.call('ZCARD', index), sum_of(texts), snapshot_sizes()}
end
`;

/** For types of objects that are not stored themselves. */
export const NO_SNAPSHOTS = String.raw`
local function drop_snapshot(id) end
local function snapshot_sizes() return 0, 0 end
`;
