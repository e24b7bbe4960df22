import { type Database, integerOf, type SqlValue } from "../database.ts";
import type { Totals } from "../operation.ts";
import { readTotal } from "./totals.ts";

/** Bounds of one store. */
export interface StoreBounds {
  readonly entries: number;
  readonly bytes: number;
}

/**
 * Removes the oldest records until a store is within its bounds. `oldest` is a statement that
 * deletes the oldest record.
 */
export function removeOldest(
  database: Database,
  name: Exclude<keyof Totals, "records">,
  { entries, bytes }: StoreBounds,
  oldest: string,
  ...parameters: readonly SqlValue[]
): void {
  for (;;) {
    const total = readTotal(database, name);
    if (total.entries <= entries && total.bytes <= bytes) return;
    if (database.change(oldest, ...parameters) === 0) return;
  }
}

/** Returns the number in the only column of the first row. */
export function readNumber(
  database: Database,
  sql: string,
  ...parameters: readonly SqlValue[]
): number {
  const row = database.row(`select (${sql}) as number`, ...parameters);
  return row === undefined ? 0 : integerOf(row, "number");
}
