import { type Database, integerOf, type SqlValue } from "../database.ts";

/** Returns the number in the only column of the first row. */
export function readNumber(
  database: Database,
  sql: string,
  ...parameters: readonly SqlValue[]
): number {
  const row = database.row(`select (${sql}) as number`, ...parameters);
  return row === undefined ? 0 : integerOf(row, "number");
}

/** Returns the number of the next commit or lookup that renews. */
export function nextNumber(database: Database): number {
  const row = database.row("update counter set last = last + 1 returning last");
  return row === undefined ? 0 : integerOf(row, "last");
}
