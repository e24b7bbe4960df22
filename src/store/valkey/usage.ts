import { Buffer } from "node:buffer";
import { type Result, success } from "../../core/failure/result.ts";
import { rowBeyondBound, type UsageRow } from "../../core/usage_row.ts";
import { SETTLED_TTL_MS } from "../memory/settled_calls.ts";
import { MAX_DAY_ROWS, type UsageBatch, type UsageStore } from "../usage/usage_store.ts";
import type { ValkeyConnection } from "./connection.ts";
import { keyStart } from "./keys.ts";
import { listOf, textOf } from "./reply.ts";
import { newScript, replyResult, runScript } from "./script.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Maximum number of rows of one script. */
const MAX_SCRIPT_ROWS = 500;

/**
 * Adds rows of one day, once. Keys: mark of the batch, rows. Arguments: milliseconds to remember
 * the batch, milliseconds to store the rows, maximum number of rows; then of each row its name, its
 * name if there are too many, and its six counts. A row is one field with the counts as a list.
 */
const ADD_USAGE = newScript(`
if not redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1]) then return 0 end
for at = 4, #ARGV, 8 do
  local field = ARGV[at]
  local known = redis.call('HGET', KEYS[2], field)
  if not known and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[3]) then
    field = ARGV[at + 1]
    known = redis.call('HGET', KEYS[2], field)
  end
  local counts = known and cjson.decode(known) or { 0, 0, 0, 0, 0, 0 }
  local sums = {}
  for index = 1, 6 do
    local sum = math.min(counts[index] + tonumber(ARGV[at + 1 + index]), 9007199254740991)
    sums[index] = string.format('%.0f', sum)
  end
  redis.call('HSET', KEYS[2], field, '[' .. table.concat(sums, ',') .. ']')
end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1`);

/** Returns the usage of client keys in a server: one hash for each day, which expires by itself. */
export function newValkeyUsage(connection: ValkeyConnection, prefix: string): UsageStore {
  const start = `${keyStart(prefix)}u:`;

  async function addRows(
    { id, days }: UsageBatch,
    day: string,
    rows: readonly UsageRow[],
    part: number,
  ): Promise<Result<void>> {
    const keys = [`${start}d:${id}:${day}:${part}`, `${start}${day}`];
    const args = [SETTLED_TTL_MS, (days + 1) * DAY_MS, MAX_DAY_ROWS, ...rows.flatMap(rowArguments)];
    const reply = await runScript(connection, ADD_USAGE, keys, args);
    return reply.ok ? success(undefined) : reply;
  }

  return {
    async add(batch) {
      const byDay = Map.groupBy(batch.rows, ({ day }) => day);
      for (const [day, rows] of byDay) {
        for (let at = 0; at < rows.length; at += MAX_SCRIPT_ROWS) {
          const added = await addRows(batch, day, rows.slice(at, at + MAX_SCRIPT_ROWS), at);
          if (!added.ok) return added;
        }
      }
      return success(undefined);
    },
    async read(days) {
      const rows: UsageRow[] = [];
      for (const day of days) {
        const reply = replyResult(await connection.send("HGETALL", [`${start}${day}`]));
        if (!reply.ok) return reply;
        for (const row of parseRows(day, reply.value)) rows.push(row);
      }
      return success(rows);
    },
  };
}

function rowArguments(row: UsageRow): readonly (string | number)[] {
  const { calls, input, output, cached, nanoUsd, estimated } = row;
  const name = ({ key, provider, model }: UsageRow) => JSON.stringify([key, provider, model]);
  return [name(row), name(rowBeyondBound(row)), calls, input, output, cached, nanoUsd, estimated];
}

/** Returns the rows of a day; a field that is no row is left out. */
function parseRows(day: string, reply: unknown): readonly UsageRow[] {
  const rows: UsageRow[] = [];
  const fields = reply instanceof Map ? [...reply].flat() : listOf(reply);
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const names = parseList(fields[at]);
    const counts = parseList(fields[at + 1]);
    const [key, provider, model] = names;
    const [calls, input, output, cached, nanoUsd, estimated] = counts.map(Number);
    if (typeof key !== "string" || typeof provider !== "string" || typeof model !== "string") {
      continue;
    }
    if (calls === undefined || input === undefined || output === undefined) continue;
    if (cached === undefined || nanoUsd === undefined || estimated === undefined) continue;
    rows.push({ day, key, provider, model, calls, input, output, cached, nanoUsd, estimated });
  }
  return rows;
}

function parseList(reply: unknown): readonly unknown[] {
  const text = reply instanceof Buffer ? textOf(reply) : null;
  try {
    return listOf(JSON.parse(text ?? "null"));
  } catch {
    return [];
  }
}
