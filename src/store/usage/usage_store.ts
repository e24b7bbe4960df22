import type { UsageRow } from "../../core/usage_row.ts";
import type { Stored } from "../object_store.ts";

/** Rows of usage that are added together, once, under one ID. */
export interface UsageBatch {
  readonly id: string;
  readonly rows: readonly UsageRow[];
  /** Number of days for which rows are stored. */
  readonly days: number;
}

/**
 * Usage of client keys by day in a store beyond the process. A day has at most `MAX_DAY_ROWS` rows
 * besides those of `rowBeyondBound`.
 */
export interface UsageStore {
  /** Adds a batch to the stored rows, once, however often it is sent. */
  add(batch: UsageBatch): Stored<void>;
  /** Returns the rows of these days. */
  read(days: readonly string[]): Stored<readonly UsageRow[]>;
}

/** Maximum number of rows of a day. */
export const MAX_DAY_ROWS = 10_000;
