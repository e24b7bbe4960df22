import type { Operation } from "./operation.ts";
import { ping } from "./operations/ping.ts";

/** Operations that run in the thread of the database, by the names that calls use. */
export const OPERATIONS = {
  ping,
} as const satisfies Readonly<Record<string, Operation>>;

/** Names, parameters and results of the operations. */
export type OperationTable = typeof OPERATIONS;
