/**
 * Limits that refuse requests: concurrent requests, bytes of requests or responses, and the heap of
 * the process.
 */
export const OVERLOAD_REASONS = ["requests", "body_memory", "response_memory", "heap"] as const;

/** The limit that refused a request. */
export type OverloadReason = (typeof OVERLOAD_REASONS)[number];
