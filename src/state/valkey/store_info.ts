import { type Result, success } from "../../core/result.ts";
import type { Stored } from "../object_store.ts";
import type { StateInfo, StoredType, StoredTypeName } from "../state_info.ts";
import type { ValkeyRecords } from "./records.ts";
import { integerOf, listOf, textOf } from "./reply.ts";
import { READ_SIZES, SCAN_KEYS } from "./scripts/store_scripts.ts";
import { readServerInfo } from "./server_info.ts";

/** Keys that one script looks at. */
const MAX_SCANNED_KEYS = 1_000;

/** Types of records in the order of the reply of `READ_SIZES`. */
const TYPES: readonly StoredTypeName[] = [
  "responses",
  "conversations",
  "reasoning",
  "cached_responses",
  "owners",
  "owners",
  "owners",
  "owners",
];

const BOUND_TYPES = ["response", "chat_completion", "conversation", "relayed_object"];

/** Returns the number, size and age of the records. Of quotas the keys are counted. */
export async function readStoreInfo(records: ValkeyRecords): Stored<StateInfo> {
  const reply = await records.run(READ_SIZES, BOUND_TYPES);
  if (!reply.ok) return reply;
  const quotas = await scanKeys(records, `${records.start}q:*`, "");
  if (!quotas.ok) return quotas;
  const server = await readServerInfo(records.connection);
  const sizes = listOf(reply.value).map((size) => listOf(size));
  const types = new Map<StoredTypeName, StoredType>();
  for (const [index, type] of TYPES.entries()) {
    const before = types.get(type);
    const [entries, bytes] = sizes[index] ?? [];
    types.set(type, {
      type,
      entries: (before?.entries ?? 0) + (integerOf(entries) ?? 0),
      bytes: (before?.bytes ?? 0) + (integerOf(bytes) ?? 0),
    });
  }
  types.set("quotas", { type: "quotas", entries: quotas.value, bytes: 0 });
  const oldest = agesIn(sizes, 2);
  const newest = agesIn(sizes, 3);
  return success({
    version: server?.version ?? "",
    types: [...types.values()].filter(({ entries }) => entries > 0),
    oldestMs: oldest.length === 0 ? null : Math.max(...oldest),
    newestMs: newest.length === 0 ? null : Math.min(...newest),
  });
}

/** Removes all keys of the store. Returns the number of records that it had. */
export async function purgeStore(records: ValkeyRecords): Stored<number> {
  const info = await readStoreInfo(records);
  if (!info.ok) return info;
  const removed = await scanKeys(records, `${records.start}*`, "remove");
  if (!removed.ok) return removed;
  return success(info.value.types.reduce((sum, { entries }) => sum + entries, 0));
}

/** Returns the number of keys that fit a pattern. Each script looks at a bounded number of keys. */
async function scanKeys(
  records: ValkeyRecords,
  pattern: string,
  action: "" | "remove",
): Promise<Result<number>> {
  let cursor = "0";
  let count = 0;
  do {
    const reply = await records.run(SCAN_KEYS, [cursor, pattern, action, MAX_SCANNED_KEYS]);
    if (!reply.ok) return reply;
    const [next, fitting] = listOf(reply.value);
    cursor = textOf(next) ?? "0";
    count += integerOf(fitting) ?? 0;
  } while (cursor !== "0");
  return success(count);
}

function agesIn(sizes: readonly (readonly unknown[])[], position: number): readonly number[] {
  return sizes.flatMap((size) => {
    const age = textOf(size[position]);
    return age === null || age === "" ? [] : [Number(age)];
  });
}
