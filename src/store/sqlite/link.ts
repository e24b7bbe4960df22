import type { Result } from "../../core/failure/result.ts";
import type { Totals } from "./operation.ts";
import type { OperationTable } from "./operations.ts";
import type { QueueLimits } from "./queue.ts";

/** Name of an operation. */
export type OperationName = keyof OperationTable;

/** Parameters of an operation. */
export type ParametersOf<N extends OperationName> = Parameters<OperationTable[N]["run"]>[1];

/** Result of an operation. */
export type ResultOf<N extends OperationName> = ReturnType<OperationTable[N]["run"]>;

/** Connection of the gateway's thread to the thread of the database. */
export interface Link {
  /**
   * Runs an operation in a transaction and returns its result after the commit. Fails with
   * `state_unavailable` if the database reports an error, or if its thread does not respond.
   */
  run<N extends OperationName>(
    name: N,
    parameters: ParametersOf<N>,
  ): Promise<Result<ResultOf<N>>>;
  /**
   * As `run`, but without a time limit, and no client waits for it. The parameters are made, never
   * at once, when the operation is sent to the thread, so that its transaction has all that
   * happened before it.
   */
  runInBackground<N extends OperationName>(
    name: N,
    parameters: () => ParametersOf<N>,
  ): Promise<Result<ResultOf<N>>>;
  /** Returns the sizes of the stores after the last operation. */
  totals(): Totals;
  /** Completes the operations that wait, and closes the file. */
  close(): Promise<void>;
}

/** Times and bounds of a link. */
export interface LinkLimits extends QueueLimits {
  /** Time in which the thread must have started and opened the file. */
  readonly openTimeoutMs: number;
  /** Time in which the thread must complete a transaction. */
  readonly timeoutMs: number;
  /** Time after that in which a silent thread may still reply; then it is replaced. */
  readonly graceMs: number;
  /** Time between two attempts to start the thread. */
  readonly restartMs: number;
}

/** Limits of a link in a gateway. */
export const LINK_LIMITS: LinkLimits = {
  calls: 1_000,
  bytes: 64 * 1024 * 1024,
  openTimeoutMs: 30_000,
  // A card that is worn out took a second for a checkpoint.
  timeoutMs: 10_000,
  graceMs: 30_000,
  restartMs: 1_000,
};
