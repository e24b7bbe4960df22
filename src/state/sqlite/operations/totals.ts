import { type Database, integerOf, textOf } from "../database.ts";
import type { StoreStats } from "../../object_store.ts";
import { noRecordStats, recordStats } from "../../records/record_store.ts";
import type { Totals } from "../operation.ts";

const NONE = { entries: 0, bytes: 0 };

/** Returns the sizes of all stores. */
export function readTotals(database: Database): Totals {
  const found = new Map(
    database.rows("select name, entries, bytes from total").map((row) => [
      textOf(row, "name"),
      { entries: integerOf(row, "entries"), bytes: integerOf(row, "bytes") },
    ]),
  );
  const total = (name: Exclude<keyof Totals, "records">) => found.get(name) ?? NONE;
  return {
    records: readRecordStats(database),
    responses: total("responses"),
    conversations: total("conversations"),
    reasoning: total("reasoning"),
    chat_completion_bindings: total("chat_completion_bindings"),
    response_bindings: total("response_bindings"),
    conversation_bindings: total("conversation_bindings"),
    relayed_object_bindings: total("relayed_object_bindings"),
    cached_responses: total("cached_responses"),
    quotas: total("quotas"),
  };
}

/** Returns the size of one store. */
export function readTotal(database: Database, name: Exclude<keyof Totals, "records">): StoreStats {
  const row = database.row("select entries, bytes from total where name = ?", name);
  return row === undefined
    ? NONE
    : { entries: integerOf(row, "entries"), bytes: integerOf(row, "bytes") };
}

function readRecordStats(database: Database): Totals["records"] {
  const found = new Map(
    database.rows("select type, entries, bodies, head_bytes, bytes from record_total").map((
      row,
    ) => [
      textOf(row, "type"),
      {
        entries: integerOf(row, "entries"),
        bodies: integerOf(row, "bodies"),
        headBytes: integerOf(row, "head_bytes"),
        bytes: integerOf(row, "bytes"),
      },
    ]),
  );
  const none = noRecordStats();
  return recordStats((type) => found.get(type) ?? none[type]);
}
