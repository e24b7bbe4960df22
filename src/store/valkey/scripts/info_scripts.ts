import { newScript } from "../script.ts";
import { RECORD_TABLES } from "./record_tables.ts";

/**
 * Arguments: types. Returns for each type: numbers of records and of bodies, bytes of heads and of
 * all, ages of the oldest and of the youngest record in milliseconds (empty without one).
 */
export const READ_SIZES = newScript(
  RECORD_TABLES + String.raw`
local function age_at(index, place)
  local score = call('ZRANGE', index, place, place, 'WITHSCORES')[2]
  return score and whole(math.max(0, now - tonumber(score)) / 1000) or ''
end

local sizes = {}
for at, type in ipairs(ARGV) do
  local t = table_of(type)
  sizes[at] = {call('ZCARD', t.ages), t.bodies, t.heads, t.bytes, age_at(t.ages, 0), age_at(t.ages, -1)}
end
return sizes
`,
);

/**
 * Arguments: cursor, pattern, `remove` or empty, number of keys to look at. Returns the next cursor
 * and the number of keys that fit. A script, because in a cluster it runs where the keys are.
 */
export const SCAN_KEYS = newScript(String.raw`
local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[4])
if ARGV[3] == 'remove' then
  for _, key in ipairs(page[2]) do redis.call('DEL', key) end
end
return {page[1], #page[2]}
`);
