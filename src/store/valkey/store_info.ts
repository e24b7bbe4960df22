import { type Result, success } from "../../core/failure/result.ts";
import type { Stored } from "../object_store.ts";
import { RECORD_TYPES, type RecordStats } from "../records/record_store.ts";
import { storedTypes } from "../records/stored_types.ts";
import type { StateInfo } from "../state_info.ts";
import type { Argument, ValkeyConnection } from "./connection.ts";
import { keyStart, recordStart } from "./keys.ts";
import { integerOf, listOf, textOf } from "./reply.ts";
import { runScript, type Script } from "./script.ts";
import { READ_SIZES, SCAN_KEYS } from "./scripts/info_scripts.ts";
import { readServerInfo } from "./server_info.ts";

/** Keys that one script looks at. */
const MAX_SCANNED_KEYS = 1_000;

/** Size and age of the records of a server. */
export interface ValkeyInfo {
  /** Returns the number, size and age of the records. Of quotas the keys are counted. */
  read(): Stored<StateInfo>;
  /** Removes all keys of the store. Returns the number of records that it had. */
  purge(): Stored<number>;
}

/** Returns the information about a store whose keys have this prefix. */
export function newValkeyInfo(connection: ValkeyConnection, prefix: string): ValkeyInfo {
  const run = (script: Script, args: readonly Argument[]) =>
    runScript(connection, script, [recordStart(prefix)], args);

  /**
   * Returns the number of keys that fit a pattern. Each script looks at a bounded number of keys.
   */
  async function scanKeys(pattern: string, action: "" | "remove"): Promise<Result<number>> {
    let cursor = "0";
    let count = 0;
    do {
      const reply = await run(SCAN_KEYS, [cursor, pattern, action, MAX_SCANNED_KEYS]);
      if (!reply.ok) return reply;
      const [next, fitting] = listOf(reply.value);
      cursor = textOf(next) ?? "0";
      count += integerOf(fitting) ?? 0;
    } while (cursor !== "0");
    return success(count);
  }

  async function read(): Stored<StateInfo> {
    const reply = await run(READ_SIZES, RECORD_TYPES);
    if (!reply.ok) return reply;
    const quotas = await scanKeys(`${keyStart(prefix)}q:*`, "");
    if (!quotas.ok) return quotas;
    const server = await readServerInfo(connection);
    const sizes = listOf(reply.value).map(listOf);
    const oldest = agesIn(sizes, 4);
    const newest = agesIn(sizes, 5);
    return success({
      version: server?.version ?? "",
      types: [
        ...storedTypes((type) => statsIn(sizes[RECORD_TYPES.indexOf(type)] ?? [])),
        { type: "quotas" as const, entries: quotas.value, bytes: 0 },
      ].filter(({ entries }) => entries > 0),
      oldestMs: oldest.length === 0 ? null : Math.max(...oldest),
      newestMs: newest.length === 0 ? null : Math.min(...newest),
    });
  }

  return {
    read,
    async purge() {
      const info = await read();
      if (!info.ok) return info;
      const removed = await scanKeys(`${keyStart(prefix)}*`, "remove");
      if (!removed.ok) return removed;
      return success(info.value.types.reduce((sum, { entries }) => sum + entries, 0));
    },
  };
}

function statsIn(sizes: readonly unknown[]): RecordStats {
  const [entries = 0, bodies = 0, headBytes = 0, bytes = 0] = sizes.map((size) =>
    integerOf(size) ?? 0
  );
  return { entries, bodies, headBytes, bytes };
}

function agesIn(sizes: readonly (readonly unknown[])[], position: number): readonly number[] {
  return sizes.flatMap((size) => {
    const age = textOf(size[position]);
    return age === null || age === "" ? [] : [Number(age)];
  });
}
