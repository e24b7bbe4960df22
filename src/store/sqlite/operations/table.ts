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
  database.change("update counter set last = last + 1");
  return readNumber(database, "select last from counter");
}
