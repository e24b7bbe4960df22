import type { Operation } from "./operation.ts";
import { bind, findBinding, findBindings, unbind } from "./operations/bindings.ts";
import { findCachedResponse, storeCachedResponse } from "./operations/cached_responses.ts";
import {
  appendItems,
  createConversation,
  deleteConversation,
  findConversation,
  findConversationItems,
  removeItem,
  setMetadata,
} from "./operations/conversations.ts";
import { readInfo } from "./operations/info.ts";
import { freePages, removeExpired, removeSomeRecords } from "./operations/maintenance.ts";
import { ping } from "./operations/ping.ts";
import { loadSettledCalls, loadSums, storeUses } from "./operations/quotas.ts";
import { commitRecords, getRecords, namedParts, renewRecords } from "./operations/records.ts";
import { findReasoning, storeReasoning, takeReasoning } from "./operations/reasoning.ts";
import { findResponse, findResponseItems, storeResponse } from "./operations/responses.ts";
import { addUsage, readUsage } from "./operations/usage.ts";

/** Operations that run in the thread of the database, by the names that calls use. */
export const OPERATIONS = {
  ping,
  getRecords,
  renewRecords,
  namedParts,
  commitRecords,
  findBinding,
  findBindings,
  bind,
  unbind,
  findResponse,
  storeResponse,
  findResponseItems,
  createConversation,
  findConversation,
  setMetadata,
  appendItems,
  removeItem,
  deleteConversation,
  findConversationItems,
  findReasoning,
  takeReasoning,
  storeReasoning,
  findCachedResponse,
  storeCachedResponse,
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
