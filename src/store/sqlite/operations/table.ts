import { type Database, integerOf, type SqlValue } from "../database.ts";
import type { OperationContext } from "../operation.ts";

/** Returns the number in the only column of the first row. */
export function readNumber(
  database: Database,
  sql: string,
  ...parameters: readonly SqlValue[]
): number {
  const row = database.row(`select (${sql}) as number`, ...parameters);
  return row === undefined ? 0 : integerOf(row, "number");
}

/** Returns the number of the next commit or lookup that renews, which is made at `now`. */
export function nextNumber({ database, now }: Pick<OperationContext, "database" | "now">): number {
  const row = database.row(
    "update counter set last = last + 1, changed = max(changed, ?) returning last",
    now,
  );
  return row === undefined ? 0 : integerOf(row, "last");
}
