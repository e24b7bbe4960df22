import type { StoreStats } from "../object_store.ts";
import type { RecordBounds } from "../records/bounds.ts";
import type { RecordStats, RecordType } from "../records/record_store.ts";
import type { Database } from "./database.ts";

/** Context of an operation. */
export interface OperationContext {
  readonly database: Database;
  /** Unix time in milliseconds. */
  readonly now: number;
  readonly bounds: RecordBounds;
}

/**
 * A small program that runs in the thread of the database. It reads, decides and writes in one
 * transaction, and no other operation runs in between. It may run a second time after an error, in
 * another transaction, so it changes nothing but the database.
 */
export interface Operation {
  /** `maintenance` runs outside of transactions. */
  readonly kind: "read" | "write" | "maintenance";
  /** Parameters and result are copied between threads: plain data only. */
  run(context: OperationContext, parameters: unknown): unknown;
}

/** Sizes of the records of each type, and of the sums of quotas. */
export interface Totals {
  readonly records: Readonly<Record<RecordType, RecordStats>>;
  /** Sums of quotas. */
  readonly quotas: StoreStats;
}
