/** Operations of the state store, as metrics and log lines name them. */
export const STATE_OPERATIONS = [
  "response_find",
  "response_items",
  "response_store",
  "response_bind",
  "response_unbind",
  "conversation_find",
  "conversation_items",
  "conversation_create",
  "conversation_update",
  "conversation_append",
  "conversation_remove_item",
  "conversation_delete",
  "owner_find",
  "owner_bind",
  "owner_unbind",
  "reasoning_find",
  "reasoning_store",
  "values_find",
  "values_store",
] as const;

/** Name of an operation of the state store. */
export type StateOperation = (typeof STATE_OPERATIONS)[number];

/** Operations of quotas that the process counts itself while the state store is unavailable. */
export const FALLBACK_OPERATIONS = ["admit", "settle", "renew"] as const;

/** Name of an operation of quotas that the process has counted itself. */
export type FallbackOperation = (typeof FALLBACK_OPERATIONS)[number];

/**
 * Reasons for which a waiting write is lost: no room for it, its lifetime is over, the store
 * refused it, or the gateway shut down.
 */
export const LOSS_REASONS = ["full", "expired", "refused", "shutdown"] as const;

/** Reason for which a waiting write is lost. */
export type LossReason = (typeof LOSS_REASONS)[number];
