import { ENCODED_BY_ALL } from "../chat_request/closed_fields.ts";

/** Request fields that have a counterpart in Messages. Their sections validate the values. */
export const ENCODED: ReadonlySet<string> = new Set([
  ...ENCODED_BY_ALL,
  "top_k",
  "stop",
  "thinking",
  "user",
  "safety_identifier",
  "service_tier",
]);
