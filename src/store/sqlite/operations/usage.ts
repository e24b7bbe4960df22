import { rowBeyondBound, type UsageRow } from "../../../core/usage_row.ts";
import { idOfKeyText, keyText } from "../../key_text.ts";
import { MAX_DAY_ROWS, type UsageBatch } from "../../usage/usage_store.ts";
import { type Database, integerOf, textOf } from "../database.ts";
import type { OperationContext } from "../operation.ts";
import { readNumber } from "./table.ts";

/** Adds a batch of usage unless it is stored already, and removes the days that are too old. */
export const addUsage = {
  kind: "write" as const,
  run(
    { database }: OperationContext,
    { batch: { id, rows }, firstDay, expires }: {
      readonly batch: UsageBatch;
      readonly firstDay: string;
      /** Unix time in milliseconds until which the ID of the batch is stored. */
      readonly expires: number;
    },
  ): null {
    const added = database.change(
      "insert into settled (call, expires) values (?, ?) on conflict do nothing",
      id,
      expires,
    );
    if (added === 0) return null;
    const sizes = new Map<string, number>();
    for (const row of rows) addRow(database, row, sizes);
    database.change("delete from usage where day < ?", firstDay);
    return null;
  },
};

/**
 * Adds a row. `sizes` has the rows of each day, because counting them for each row takes quadratic
 * time.
 */
function addRow(database: Database, row: UsageRow, sizes: Map<string, number>): void {
  const { day, key, provider } = row;
  const isKnown = database.row(
    "select 1 as found from usage where day = ? and key = ? and provider = ? and model = ?",
    day,
    key,
    provider,
    row.model,
  ) !== undefined;
  const size = sizes.get(day) ??
    readNumber(database, "select count(*) from usage where day = ?", day);
  const isFull = !isKnown && size >= MAX_DAY_ROWS;
  sizes.set(day, isKnown || isFull ? size : size + 1);
  const { key: client, model } = isFull ? storedBeyondBound(row) : row;
  const most = Number.MAX_SAFE_INTEGER;
  database.change(
    `insert into usage values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do update set
       calls = min(calls + excluded.calls, ${most}),
       input = min(input + excluded.input, ${most}),
       output = min(output + excluded.output, ${most}),
       cached = min(cached + excluded.cached, ${most}),
       nano_usd = min(nano_usd + excluded.nano_usd, ${most}),
       estimated = min(estimated + excluded.estimated, ${most})`,
    day,
    client,
    provider,
    model,
    row.calls,
    row.input,
    row.output,
    row.cached,
    row.nanoUsd,
    row.estimated,
  );
}

/** Returns `rowBeyondBound` of a row whose names have the form in which they are stored. */
function storedBeyondBound(row: UsageRow): UsageRow {
  const other = rowBeyondBound({ ...row, key: idOfKeyText(row.key) });
  return { ...other, key: keyText(other.key) };
}

/** Returns the usage of one day. */
export const readUsage = {
  kind: "read" as const,
  run({ database }: OperationContext, day: string): readonly UsageRow[] {
    return database.rows("select * from usage where day = ?", day).map((row) => ({
      day,
      key: textOf(row, "key"),
      provider: textOf(row, "provider"),
      model: textOf(row, "model"),
      calls: integerOf(row, "calls"),
      input: integerOf(row, "input"),
      output: integerOf(row, "output"),
      cached: integerOf(row, "cached"),
      nanoUsd: integerOf(row, "nano_usd"),
      estimated: integerOf(row, "estimated"),
    }));
  },
};
