/** Limits that refuse requests: concurrent requests, and bytes of requests or responses. */
export const OVERLOAD_REASONS = ["requests", "body_memory", "response_memory"] as const;

/** The limit that refused a request. */
export type OverloadReason = (typeof OVERLOAD_REASONS)[number];
