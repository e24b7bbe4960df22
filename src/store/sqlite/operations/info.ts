import { storedTypes } from "../../records/stored_types.ts";
import type { StateInfo, StoredType } from "../../state_info.ts";
import { textOf } from "../database.ts";
import type { OperationContext } from "../operation.ts";
import { readTotals } from "./totals.ts";

/** Tables whose records have an age. */
const TABLES = ["record", "spent"];

/** Returns the version of SQLite, and the number, size and age of the records. */
export const readInfo = {
  kind: "read" as const,
  run({ database, now }: OperationContext): StateInfo {
    const version = database.row("select sqlite_version() as version");
    const times = TABLES.flatMap((table) => {
      const row = database.row(`select min(changed) as first, max(changed) as last from ${table}`);
      return [row?.first, row?.last].filter((time) => typeof time === "number");
    });
    return {
      version: `SQLite ${version === undefined ? "" : textOf(version, "version")}`,
      types: typesIn(database),
      oldestMs: times.length === 0 ? null : Math.max(now - Math.min(...times), 0),
      newestMs: times.length === 0 ? null : Math.max(now - Math.max(...times), 0),
    };
  },
};

function typesIn(database: OperationContext["database"]): readonly StoredType[] {
  const { records, quotas } = readTotals(database);
  const types = [
    ...storedTypes((type) => records[type]),
    { type: "quotas" as const, ...quotas },
  ];
  return types.filter(({ entries }) => entries > 0);
}
