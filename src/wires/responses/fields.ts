import { ENCODED_BY_ALL } from "../chat_request/closed_fields.ts";

/** Fields with the same name and meaning in Chat and Responses. */
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

/** Request fields that have a counterpart in Responses. */
export const ENCODED: ReadonlySet<string> = new Set([
  ...ENCODED_BY_ALL,
  ...SAME,
  "verbosity",
  "logprobs",
  "top_logprobs",
  "web_search_options",
]);

/** Request fields that are supported if the gateway may check responses. */
export const ENCODED_WITH_CHECKS: ReadonlySet<string> = new Set([...ENCODED, "stop"]);
