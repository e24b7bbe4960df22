import { ENCODED_BY_ALL } from "../chat_request/closed_fields.ts";

/** Fields that have a place in a Messages request; their own files look at their values. */
export const ENCODED: ReadonlySet<string> = new Set([
  ...ENCODED_BY_ALL,
  "top_k",
  "stop",
  "thinking",
  "user",
  "safety_identifier",
  "service_tier",
]);
