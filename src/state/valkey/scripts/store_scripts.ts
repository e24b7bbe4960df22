import { newScript } from "../script.ts";
import { HEAD } from "./head.ts";

/**
 * Argument: types of bindings. Returns for each index of the store: number of entries, bytes, ages of
 * the oldest and of the newest entry in milliseconds (empty without one). The indexes are those of
 * responses, conversations, reasoning, cached responses and the given types of bindings.
 */
export const READ_SIZES = newScript(
  HEAD + String.raw`
local function age_at(index, position)
  local score = redis.call('ZRANGE', index, position, position, 'WITHSCORES')[2]
  return score and whole(math.max(0, now - tonumber(score)) / 1000) or ''
end

local function sizes(index, sums)
  return {redis.call('ZCARD', index), sum_of(sums), age_at(index, 0), age_at(index, -1)}
end

local all = {
  sizes(start .. 's', start .. 's:m'),
  sizes(start .. 'ca', start .. 'cs'),
  sizes(start .. 'ga', start .. 'gs'),
  sizes(start .. 'aa', start .. 'as'),
}
for _, type in ipairs(ARGV) do
  all[#all + 1] = sizes(start .. 'b:' .. type .. ':z', start .. 'b:' .. type)
end
return all
`,
);

/**
 * Arguments: cursor, pattern, `remove` or empty, number of keys to look at. Returns the next cursor
 * and the number of keys that fit. A script, because in a cluster it runs where the keys are.
 */
export const SCAN_KEYS = newScript(
  HEAD + String.raw`
local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[4])
if ARGV[3] == 'remove' then
  for _, key in ipairs(page[2]) do redis.call('DEL', key) end
end
return {page[1], #page[2]}
`,
);
