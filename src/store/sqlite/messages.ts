import type { RecordBounds } from "../records/bounds.ts";
import type { DatabaseOptions } from "./database.ts";
import type { Totals } from "./operation.ts";
import type { Problem } from "./problems.ts";

/** Database that the thread opens. */
export interface Opening {
  readonly options: DatabaseOptions;
  readonly bounds: RecordBounds;
}

/** A message to the thread of the database. */
export type WorkerRequest =
  | { readonly kind: "open" } & Opening
  | { readonly kind: "run"; readonly calls: readonly OperationCall[] }
  | { readonly kind: "close" };

/** An operation to run. */
export interface OperationCall {
  readonly id: number;
  readonly name: string;
  /** Unix time in milliseconds. */
  readonly now: number;
  readonly parameters: unknown;
}

/** A message of the thread of the database. */
export type WorkerReply =
  | { readonly kind: "opened"; readonly totals: Totals }
  | { readonly kind: "refused"; readonly problem: Problem }
  | {
    readonly kind: "results";
    readonly results: readonly CallResult[];
    /** Null if nothing was written, or if they could not be read. */
    readonly totals: Totals | null;
  }
  | { readonly kind: "closed" }
  /** The thread cannot go on: an error that no operation reports. */
  | { readonly kind: "broken" };

/** Result of an operation. Its changes are committed, or it has changed nothing. */
export type CallResult =
  | {
    readonly id: number;
    readonly ok: true;
    readonly value: unknown;
    /** True if the operation has changed the file. */
    readonly hasWritten: boolean;
  }
  | { readonly id: number; readonly ok: false; readonly problem: Problem };
