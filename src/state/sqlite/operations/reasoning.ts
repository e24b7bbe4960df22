import { type ReasoningBounds, reasoningBounds } from "../../retention.ts";
import { type Database, integerOf, recordOf, type Row, textOf } from "../database.ts";
import type { OperationContext } from "../operation.ts";
import type { EncodedRecord } from "./responses.ts";
import { readNumber, removeOldest } from "./table.ts";

/** Reasoning to be stored. */
export interface EncodedReasoning {
  readonly key: string;
  /** JSON text of the creator. */
  readonly creator: string;
  /** Creator and tool calls: what reasoning with different texts has in common. */
  readonly calls: string;
  readonly bytes: number;
  readonly body: EncodedRecord;
}

/** A look-up of reasoning: by its key, or without its text by its calls. */
export interface ReasoningLookup {
  readonly key: string | null;
  readonly calls: string;
}

/** Reasoning read from the database. */
export interface ReasoningRecord {
  readonly key: string;
  readonly body: EncodedRecord;
}

/** Returns the reasoning of each look-up; null if there is none. */
export const findReasoning = {
  kind: "read" as const,
  run: (context: OperationContext, lookups: readonly ReasoningLookup[]) =>
    lookups.map((lookup) => readReasoning(context, lookup)),
};

/** As `findReasoning`, and the lifetime of what is found begins again. */
export const takeReasoning = {
  kind: "write" as const,
  run(context: OperationContext, lookups: readonly ReasoningLookup[]) {
    const { database, now } = context;
    return lookups.map((lookup) => {
      const found = readReasoning(context, lookup);
      if (found !== null) {
        database.change(
          "update reasoning set seq = ?, changed = ? where key = ?",
          nextSeq(database),
          now,
          found.key,
        );
      }
      return found;
    });
  },
};

/** Stores reasoning in place of an earlier one under its key; false if it is too large. */
export const storeReasoning = {
  kind: "write" as const,
  run(
    { database, now, horizon, retention }: OperationContext,
    { key, creator, calls, bytes, body }: EncodedReasoning,
  ): boolean {
    const bounds = reasoningBounds(retention);
    database.change("delete from reasoning where calls = ? and changed <= ?", calls, horizon);
    const isAmbiguous = hasOtherText(database, calls, key);
    database.change("delete from reasoning where key = ?", key);
    if (bytes > bounds.creatorBytes) return false;
    makeRoomOfCreator(database, creator, bytes, bounds);
    database.change(
      `insert into reasoning (key, seq, creator, calls, body, bytes, changed)
       values (?, ?, ?, ?, ?, ?, ?)`,
      key,
      nextSeq(database),
      creator,
      calls,
      body,
      bytes,
      now,
    );
    database.change(
      "update reasoning_calls set ambiguous = ? where calls = ?",
      isAmbiguous ? 1 : 0,
      calls,
    );
    removeOldest(
      database,
      "reasoning",
      bounds,
      "delete from reasoning where seq = (select min(seq) from reasoning)",
    );
    return true;
  },
};

function readReasoning(
  { database, horizon }: OperationContext,
  { key, calls }: ReasoningLookup,
): ReasoningRecord | null {
  const row = key === null
    ? onlyReasoning(database, calls, horizon)
    : database.row("select key, body from reasoning where key = ? and changed > ?", key, horizon);
  return row === undefined ? null : { key: textOf(row, "key"), body: recordOf(row, "body") };
}

/** Returns the reasoning of calls that have had only one text. */
function onlyReasoning(
  database: Database,
  calls: string,
  horizon: number,
): Row | undefined {
  const group = database.row("select ambiguous from reasoning_calls where calls = ?", calls);
  if (group === undefined || integerOf(group, "ambiguous") === 1) return undefined;
  return database.row(
    "select key, body from reasoning where calls = ? and changed > ?",
    calls,
    horizon,
  );
}

/** True if there has been reasoning with another text since the first one of these calls. */
function hasOtherText(database: Database, calls: string, key: string): boolean {
  const group = database.row("select ambiguous from reasoning_calls where calls = ?", calls);
  if (group === undefined) return false;
  return integerOf(group, "ambiguous") === 1 ||
    database.row("select 1 from reasoning where key = ?", key) === undefined;
}

function nextSeq(database: Database): number {
  return readNumber(database, "select coalesce(max(seq), 0) + 1 from reasoning");
}

function makeRoomOfCreator(
  database: Database,
  creator: string,
  bytes: number,
  { creatorEntries, creatorBytes }: ReasoningBounds,
): void {
  for (;;) {
    const held = database.row(
      "select entries, bytes from reasoning_creator where creator = ?",
      creator,
    );
    if (held === undefined) return;
    const isFull = integerOf(held, "entries") >= creatorEntries ||
      integerOf(held, "bytes") + bytes > creatorBytes;
    if (!isFull) return;
    database.change(
      `delete from reasoning where seq = (select min(seq) from reasoning where creator = ?)`,
      creator,
    );
  }
}
