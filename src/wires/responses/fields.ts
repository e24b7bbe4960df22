import { ENCODED_BY_ALL } from "../chat_request/closed_fields.ts";

/** Fields of Chat that have the same name and meaning in Responses. */
export const SAME = [
  "metadata",
  "service_tier",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "moderation",
] as const;

/** Fields that have a place in a Responses request. */
export const ENCODED: ReadonlySet<string> = new Set([
  ...ENCODED_BY_ALL,
  ...SAME,
  "verbosity",
  "logprobs",
  "top_logprobs",
  "web_search_options",
]);
