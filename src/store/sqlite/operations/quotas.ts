import { SUBJECT_PREFIX } from "../../../traffic/buckets.ts";
import { MAX_SUBJECT_SUMS, MAX_SUMS } from "../../memory/sums.ts";
import { type Database, integerOf, textOf } from "../database.ts";
import type { OperationContext } from "../operation.ts";
import { readQuotaTotal } from "./totals.ts";

/** A sum of a caller in the database. */
export interface StoredSum {
  readonly caller: string;
  readonly window: string;
  readonly amount: number;
  /** Unix time in milliseconds after which the sum is removed. */
  readonly expires: number;
}

/**
 * Maximum number of sums, as many as in the process. The one that ends first is removed first, that
 * of a client that the configuration does not name before all others.
 */
const MAX_STORED_SUMS = MAX_SUMS + MAX_SUBJECT_SUMS;

/** Maximum number of settled calls, of which the oldest is removed first. */
const MAX_STORED_CALLS = 100_000;

/** Maximum number of sums, or of calls, that are loaded at once. */
const MAX_PAGE_ROWS = 1_000;

/** Replaces sums, and stores the IDs of the calls that are counted in them. */
export const storeUses = {
  kind: "write" as const,
  run(
    { database, now }: OperationContext,
    { sums, calls, callsExpire }: {
      readonly sums: readonly StoredSum[];
      readonly calls: readonly string[];
      readonly callsExpire: number;
    },
  ): null {
    for (const sum of sums) storeSum(database, sum, now);
    for (const call of calls) {
      database.change(
        "insert into settled (call, expires) values (?, ?) on conflict do nothing",
        call,
        callsExpire,
      );
    }
    for (const prefix of [SUBJECT_PREFIX, ""]) {
      const excess = readQuotaTotal(database).entries - MAX_STORED_SUMS;
      if (excess <= 0) break;
      database.change(
        `delete from spent where (caller, window) in
           (select caller, window from spent where substr(caller, 1, ?) = ? order by expires, changed limit ?)`,
        prefix.length,
        prefix,
        excess,
      );
    }
    database.change(
      "delete from settled where seq <= (select max(seq) from settled) - ?",
      MAX_STORED_CALLS,
    );
    return null;
  },
};

function storeSum(database: Database, sum: StoredSum, now: number): void {
  const { caller, window, amount, expires } = sum;
  database.change(
    `insert into spent (caller, window, amount, bytes, changed, expires) values (?, ?, ?, ?, ?, ?)
       on conflict do update set
         amount = excluded.amount, changed = excluded.changed, expires = excluded.expires`,
    caller,
    window,
    amount,
    caller.length + window.length,
    now,
    expires,
  );
}

/**
 * Returns the next sums after one, in the order of their callers and windows; null for the first.
 */
export const loadSums = {
  kind: "read" as const,
  run(
    { database, now }: OperationContext,
    after: Pick<StoredSum, "caller" | "window"> | null,
  ): readonly StoredSum[] {
    const rows = database.rows(
      `select caller, window, amount, expires from spent
         where (caller, window) > (?, ?) and expires > ? order by caller, window limit ?`,
      after?.caller ?? "",
      after?.window ?? "",
      now,
      MAX_PAGE_ROWS,
    );
    return rows.map((row) => ({
      caller: textOf(row, "caller"),
      window: textOf(row, "window"),
      amount: integerOf(row, "amount"),
      expires: integerOf(row, "expires"),
    }));
  },
};

/** Returns the next settled calls after a number, with their numbers, oldest first. */
export const loadSettledCalls = {
  kind: "read" as const,
  run(
    { database, now }: OperationContext,
    after: number,
  ): readonly { readonly seq: number; readonly call: string }[] {
    const rows = database.rows(
      "select seq, call from settled where seq > ? and expires > ? order by seq limit ?",
      after,
      now,
      MAX_PAGE_ROWS,
    );
    return rows.map((row) => ({ seq: integerOf(row, "seq"), call: textOf(row, "call") }));
  },
};
