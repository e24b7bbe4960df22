import { dayBefore, type UsageRow } from "../../core/usage_row.ts";
import { success } from "../../core/failure/result.ts";
import type { World } from "../../core/world.ts";
import type { Stored } from "../object_store.ts";
import type { UsageBatch, UsageStore } from "./usage_store.ts";
import { newUsageTable } from "./usage_table.ts";

/** Usage of client keys, as the gateway writes it. */
export interface UsageLog {
  /** False if usage is not stored. */
  readonly isOn: boolean;
  /** Adds the usage of one call; never waits for a store. */
  add(row: UsageRow): void;
  /** Returns the rows of these days, including those that wait for the store. */
  read(days: readonly string[]): Stored<readonly UsageRow[]>;
  /** Writes what waits. Returns the number of calls that the store has not confirmed. */
  close(): Promise<number>;
}

/** Time between two writes to the store. */
const FLUSH_INTERVAL_MS = 5_000;

/** Maximum number of rows of all days in the memory of the process. */
const MAX_MEMORY_ROWS = 50_000;

/** Returns usage in the memory of the process for this many days; none is stored with 0 days. */
export function newMemoryUsage(days: number): UsageLog {
  const table = newUsageTable(MAX_MEMORY_ROWS);
  let latest = "";
  return {
    isOn: days > 0,
    add(row) {
      if (row.day > latest) {
        latest = row.day;
        table.removeBefore(dayBefore(latest, days - 1));
      }
      table.add(row);
    },
    read(wanted) {
      const days = new Set(wanted);
      return Promise.resolve(success(table.rows().filter(({ day }) => days.has(day)).toArray()));
    },
    close: () => Promise.resolve(0),
  };
}

/**
 * Returns usage that is written to a store every few seconds while there is any, and at the end. A
 * batch that the store may have received is sent with the same ID until it is confirmed.
 */
export function newStoredUsage(
  store: UsageStore,
  world: Pick<World, "after" | "uuid">,
  days: number,
): UsageLog {
  const waiting = newUsageTable();
  let batch: UsageBatch | null = null;
  let writing: Promise<void> | null = null;
  let cancel: (() => void) | null = null;
  let isClosed = false;

  function schedule() {
    if (isClosed) return;
    cancel ??= world.after(FLUSH_INTERVAL_MS, () => {
      cancel = null;
      void write();
    });
  }

  function write(): Promise<void> {
    writing ??= writeAll().finally(() => writing = null);
    return writing;
  }

  function takeBatch(): UsageBatch {
    const rows = [...waiting.rows()];
    waiting.clear();
    return { id: world.uuid(), rows, days };
  }

  async function writeAll(): Promise<void> {
    while (batch !== null || waiting.size > 0) {
      batch ??= takeBatch();
      const written = await store.add(batch);
      // A record that cannot be read stays so; everything else is tried again.
      if (!written.ok && written.failure.kind !== "state_unreadable") return schedule();
      batch = null;
    }
  }

  return {
    isOn: days > 0,
    add(row) {
      waiting.add(row);
      schedule();
    },
    async read(wanted) {
      if (batch !== null || waiting.size > 0) await write();
      return await store.read(wanted);
    },
    async close() {
      isClosed = true;
      cancel?.();
      await writing;
      await write();
      return [...batch?.rows ?? [], ...waiting.rows()].reduce((sum, { calls }) => sum + calls, 0);
    },
  };
}
