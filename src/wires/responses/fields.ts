/** Fields of Chat that have the same name and meaning in Responses. */
export const SAME = [
  "metadata",
  "service_tier",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
] as const;

/**
 * Fields that have a place in a Responses request. Those whose answer has no place in Chat's events,
 * such as `logprobs` and `moderation`, are not among them.
 */
export const ENCODED: ReadonlySet<string> = new Set([
  ...SAME,
  "model",
  "messages",
  "stream",
  "stream_options",
  "max_completion_tokens",
  "max_tokens",
  "temperature",
  "top_p",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "functions",
  "function_call",
  "response_format",
  "verbosity",
  "reasoning_effort",
  "reasoning",
]);
