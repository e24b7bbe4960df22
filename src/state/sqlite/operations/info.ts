import type { StateInfo, StoredType } from "../../state_info.ts";
import { textOf } from "../database.ts";
import type { OperationContext } from "../operation.ts";
import { readTotals } from "./totals.ts";

/** Tables whose records have an age. */
const TABLES = [
  "record",
  "binding",
  "response",
  "conversation",
  "reasoning",
  "cached_response",
  "spent",
];

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
      types: storedTypes(database),
      oldestMs: times.length === 0 ? null : Math.max(now - Math.min(...times), 0),
      newestMs: times.length === 0 ? null : Math.max(now - Math.max(...times), 0),
    };
  },
};

function storedTypes(database: OperationContext["database"]): readonly StoredType[] {
  const totals = readTotals(database);
  const owners = [
    totals.chat_completion_bindings,
    totals.response_bindings,
    totals.conversation_bindings,
    totals.relayed_object_bindings,
  ].reduce((sum, { entries, bytes }) => ({
    entries: sum.entries + entries,
    bytes: sum.bytes + bytes,
  }));
  const types: readonly StoredType[] = [
    { type: "responses", ...totals.responses },
    { type: "conversations", ...totals.conversations },
    { type: "owners", ...owners },
    { type: "reasoning", ...totals.reasoning },
    { type: "cached_responses", ...totals.cached_responses },
    { type: "quotas", ...totals.quotas },
  ];
  return types.filter(({ entries }) => entries > 0);
}
