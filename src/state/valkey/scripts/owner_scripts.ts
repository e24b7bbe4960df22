import { newScript } from "../script.ts";
import { BINDINGS, NO_SNAPSHOTS } from "./bindings.ts";
import { HEAD } from "./head.ts";
import { SNAPSHOTS } from "./snapshots.ts";

/** Functions of the scripts for the owners of objects that the gateway does not store. */
const OWNERS = HEAD + NO_SNAPSHOTS + BINDINGS;

/** Functions of the scripts for responses and their owners. */
const RESPONSES = HEAD + SNAPSHOTS + BINDINGS;

/** Arguments: type, lifetime, IDs. Returns the text of each binding; empty without one. */
export const FIND_BINDINGS = newScript(
  OWNERS + String.raw`
local found = {}
for at = 3, #ARGV do found[#found + 1] = binding_of(ARGV[1], ARGV[at], ARGV[2]) end
return found
`,
);

/**
 * Replaces the binding that is expected by the next one. Arguments: type, ID, expected text (empty
 * for none), next text, `conflict` or empty, lifetime, maximum entries and bytes. Returns the
 * current text if it is another one, else entries and bytes of the bindings and of stored responses.
 */
const REPLACE_BINDING = String.raw`
local type, id, expected, text, kind, ttl = unpack(ARGV, 1, 6)
local current = binding_of(type, id, ttl)
if current ~= expected then return {'changed', current} end
require_memory((keys_of(type)))
if current == '' then drop_binding(type, id) end
set_binding(type, id, text, ttl, tonumber(ARGV[7]), tonumber(ARGV[8]))
if kind == 'conflict' then drop_snapshot(id) end
return sizes_of(type)
`;

/**
 * Removes the binding that is expected. Arguments: type, ID, expected text, lifetime. Returns the
 * current text if it is another one, else entries and bytes of the bindings and of stored responses.
 */
const REMOVE_BINDING = String.raw`
local type, id, expected, ttl = unpack(ARGV)
local current = binding_of(type, id, ttl)
if current ~= expected then return {'changed', current} end
drop_binding(type, id)
return sizes_of(type)
`;

/** Scripts that change the bindings of one type. */
export interface BindingScripts {
  readonly replace: ReturnType<typeof newScript>;
  readonly remove: ReturnType<typeof newScript>;
}

/** Scripts for the bindings of objects that the gateway does not store. */
export const OWNER_SCRIPTS: BindingScripts = {
  replace: newScript(OWNERS + REPLACE_BINDING),
  remove: newScript(OWNERS + REMOVE_BINDING),
};

/** Scripts for the bindings of responses, which end together with the stored response. */
export const RESPONSE_BINDING_SCRIPTS: BindingScripts = {
  replace: newScript(RESPONSES + REPLACE_BINDING),
  remove: newScript(RESPONSES + REMOVE_BINDING),
};

/**
 * Arguments: ID, lifetime. Returns the text of the binding, and of a stored response its resource,
 * the number of its input items, and the digests and the records of all items.
 */
export const FIND_RESPONSE = newScript(
  RESPONSES + String.raw`
local id, ttl = ARGV[1], ARGV[2]
local binding = binding_of('response', id, ttl)
if binding == '' or has_expired(redis.call('ZSCORE', ages, id), ttl) then return {binding} end
local resource = redis.call('GET', start .. 'r:' .. id)
local list, size = unpack(redis.call('HMGET', facts, 'l' .. id, 'b' .. id))
if not resource or not list or not size then return {binding} end
local digests, keys = {}, {}
for digest in list:gmatch('%S+') do
  digests[#digests + 1] = digest
  keys[#keys + 1] = start .. 'i:' .. digest
end
return {binding, resource, size:match('%d+$'), digests, get_all(keys)}
`,
);

/**
 * Stores a response and replaces the binding that is expected. Arguments: ID, expected text, next
 * text (empty if it does not change), lifetime, maximum entries, bytes of bindings and bytes of
 * responses, resource, bytes, number of input items, digests of all items, then for each item that
 * occurs: digest, bytes, name, record. Returns the current text of the binding if it is another one,
 * the digests of the items whose records are required, or the entries and bytes.
 */
export const STORE_RESPONSE = newScript(
  RESPONSES + String.raw`
local id, expected, text, ttl, entries, binding_bytes, bytes = unpack(ARGV, 1, 7)
local resource, size, inputs, list = unpack(ARGV, 8, 11)
local current = binding_of('response', id, ttl)
if current ~= expected then return {'changed', current} end
local missing = missing_items(12)
if #missing > 0 then return {'missing', missing} end
require_memory(facts)
local score = whole(next_score(ages))
use_items(12, score, ttl)
-- First: an owner that makes room for this one takes its response along.
if text ~= '' then
  set_binding('response', id, text, ttl, tonumber(entries), tonumber(binding_bytes))
end
set_snapshot(id, score, resource, size, inputs, list, ttl, tonumber(entries), tonumber(bytes))
return sizes_of('response')
`,
);

/**
 * Arguments: lifetime, uses to examine of each item (but one of each different record), IDs of items.
 * Returns the matches by the age of their response (item ID,
 * digest, text of the binding, one after the other), the digests of their items and the records of
 * these.
 */
export const FIND_RESPONSE_ITEMS = newScript(
  RESPONSES + String.raw`
local ttl = ARGV[1]
local responses, by_score, lists = {}, {}, {}

local function positions_in(response)
  if lists[response] then return lists[response] end
  local positions, position = {}, 0
  for digest in (redis.call('HGET', facts, 'l' .. response.id) or ''):gmatch('%S+') do
    position = position + 1
    positions[digest] = position
  end
  lists[response] = positions
  return positions
end

local function response_at(score)
  if by_score[score] == nil then
    local id = redis.call('ZRANGEBYSCORE', ages, score, score)[1]
    local binding = id and not has_expired(score, ttl) and binding_of('response', id, ttl) or ''
    local response = binding ~= '' and {id = id, binding = binding, score = tonumber(score), items = {}}
    if response then responses[#responses + 1] = response end
    by_score[score] = response
  end
  return by_score[score]
end

for at = 3, #ARGV do
  local item, rest = ARGV[at], tonumber(ARGV[2])
  for _, digest in ipairs(redis.call('SMEMBERS', start .. 'n:' .. item)) do
    local most = math.max(1, rest)
    for _, score in ipairs(redis.call('SORT', start .. 'u:' .. digest, 'LIMIT', 0, most, 'DESC')) do
      rest = rest - 1
      local response = response_at(score)
      local earlier = response and response.items[item]
      if response and not earlier then response.items[item] = digest end
      if earlier then
        local positions = positions_in(response)
        if (positions[digest] or 0) > (positions[earlier] or 0) then response.items[item] = digest end
      end
    end
  end
end
table.sort(responses, function(one, other) return one.score < other.score end)
local matches, digests, keys, known = {}, {}, {}, {}
for _, response in ipairs(responses) do
  for item, digest in pairs(response.items) do
    matches[#matches + 1] = item
    matches[#matches + 1] = digest
    matches[#matches + 1] = response.binding
    if not known[digest] then
      known[digest] = true
      digests[#digests + 1] = digest
      keys[#keys + 1] = start .. 'i:' .. digest
    end
  end
end
return {matches, digests, get_all(keys)}
`,
);
