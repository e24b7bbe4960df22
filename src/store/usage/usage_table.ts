import { addCounts, rowBeyondBound, type UsageRow } from "../../core/usage_row.ts";
import { MAX_DAY_ROWS } from "./usage_store.ts";

/** Rows of usage in memory, one for each day, key, provider and model. */
export interface UsageTable {
  /** Adds a row to the one of the same day, key, provider and model. */
  add(row: UsageRow): void;
  rows(): MapIterator<UsageRow>;
  /** Removes the rows of the days before a date. */
  removeBefore(day: string): void;
  clear(): void;
  readonly size: number;
}

/** Returns an empty table. `maxRows` bounds its rows besides those of `rowBeyondBound`. */
export function newUsageTable(maxRows = MAX_DAY_ROWS): UsageTable {
  const rows = new Map<string, UsageRow>();
  return {
    add(added) {
      const isNew = !rows.has(nameOf(added));
      const row = isNew && rows.size >= maxRows ? rowBeyondBound(added) : added;
      const name = nameOf(row);
      const known = rows.get(name);
      rows.set(name, known === undefined ? row : { ...known, ...addCounts(known, row) });
    },
    rows: () => rows.values(),
    removeBefore(day) {
      for (const [name, row] of rows) if (row.day < day) rows.delete(name);
    },
    clear: () => rows.clear(),
    get size() {
      return rows.size;
    },
  };
}

function nameOf({ day, key, provider, model }: UsageRow): string {
  return JSON.stringify([day, key, provider, model]);
}
