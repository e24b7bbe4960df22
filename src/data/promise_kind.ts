/**
 * Kinds of promises of a request that the gateway can check on the response, where the upstream
 * does not enforce them. The list is closed, so that metrics can count them.
 */
export const PROMISE_KINDS = [
  "strict",
  "tool_choice",
  "parallel_tool_calls",
  "json_object",
  "json_schema",
  "stop",
] as const;

/** One kind of promise of a request. */
export type PromiseKind = (typeof PROMISE_KINDS)[number];

/** Results of the check of one kind of promise on one response. */
export const PROMISE_RESULTS = ["kept", "broken"] as const;

/** Result of the check of one kind of promise on one response. */
export type PromiseResult = (typeof PROMISE_RESULTS)[number];
