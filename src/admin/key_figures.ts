import { limitedCallers } from "../access/quotas.ts";
import { addCounts, ownersOf, type UsageCounts } from "../core/usage_row.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { type KeyFigures, NO_USAGE } from "./key_views.ts";

/** Time between two reads of figures in the memory of the process, and in a store. */
const MEMORY_INTERVAL_MS = 500, STORE_INTERVAL_MS = 5_000;

/** Maximum time for which a snapshot waits for the store. */
const MAX_WAIT_MS = 500;

/**
 * Returns figures of client keys from the state store, as they were a few seconds ago; empty until
 * the first read. A store that is unavailable leaves the old ones.
 */
export function newFigureReader(gateway: Gateway) {
  const { world, state } = gateway;
  const intervalMs = state.availability === null ? MEMORY_INTERVAL_MS : STORE_INTERVAL_MS;
  let latest: KeyFigures = { spent: new Map(), today: new Map() };
  let readMs = -Infinity;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    const { clientKeys, calendar } = gateway.generation;
    const callers = new Set(
      clientKeys.flatMap((key) => limitedCallers(key).map(({ caller }) => caller)),
    );
    const day = calendar.dateOf(world.wall());
    const [spent, rows] = await Promise.all([
      callers.size === 0 ? null : state.quotas.spent([...callers]),
      clientKeys.length === 0 || !state.usage.isOn ? null : state.usage.read([day]),
    ]);
    latest = {
      spent: spent?.ok === true ? spent.value : latest.spent,
      today: rows?.ok === true ? sumByKey(rows.value) : latest.today,
    };
  }

  return {
    get latest() {
      return latest;
    },
    /** Reads them again if they are too old; resolves when they are there, or after a bound. */
    async refresh(): Promise<void> {
      if (reading === null && world.now() - readMs >= intervalMs) {
        readMs = world.now();
        reading = read().finally(() => reading = null);
      }
      if (reading === null) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = world.after(MAX_WAIT_MS, resolve);
      await Promise.race([reading, promise]);
      cancel();
    },
  };
}

function sumByKey(
  rows: readonly (UsageCounts & { readonly key: string })[],
): ReadonlyMap<string, UsageCounts> {
  const sums = new Map<string, UsageCounts>();
  for (const row of rows) {
    const { key } = ownersOf(row);
    sums.set(key, addCounts(sums.get(key) ?? NO_USAGE, row));
  }
  return sums;
}
