import type { Operation } from "./operation.ts";
import { readInfo } from "./operations/info.ts";
import { freePages, removeExpired, removeSomeRecords } from "./operations/maintenance.ts";
import { ping, writePing } from "./operations/ping.ts";
import { loadSettledCalls, loadSums, storeUses } from "./operations/quotas.ts";
import { commitRecords } from "./operations/commit_records.ts";
import { getRecords, namedParts, renewRecords } from "./operations/read_records.ts";
import { addUsage, readUsage } from "./operations/usage.ts";

/** Operations that run in the thread of the database, by the names that calls use. */
export const OPERATIONS = {
  ping,
  writePing,
  getRecords,
  renewRecords,
  namedParts,
  commitRecords,
  storeUses,
  loadSums,
  loadSettledCalls,
  addUsage,
  readUsage,
  removeExpired,
  freePages,
  removeSomeRecords,
  readInfo,
} as const satisfies Readonly<Record<string, Operation>>;

/** Names, parameters and results of the operations. */
export type OperationTable = typeof OPERATIONS;
