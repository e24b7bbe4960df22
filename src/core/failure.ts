import type { ConnectionCause } from "./connection_error.ts";
import type { Answer } from "./reply.ts";

/**
 * What the gateway itself refuses, with its status. The kind is the wire `code` (only
 * `unknown_model` is sent as model_not_found); the status gives the `type`.
 */
export const REFUSALS = {
  invalid_request_framing: 400,
  invalid_json: 400,
  invalid_type: 400,
  invalid_value: 400,
  invalid_metadata: 400,
  unsupported_feature: 400,
  missing_required_parameter: 400,
  invalid_parameter_combination: 400,
  previous_response_not_found: 400,
  provider_not_found: 400,
  model_not_found: 400,
  ambiguous_provider: 400,
  provider_binding_conflict: 400,
  provider_binding_stale: 400,
  array_above_max_length: 400,
  duplicate_item_id: 400,
  conversation_item_limit_exceeded: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  origin_not_allowed: 403,
  host_not_allowed: 403,
  unknown_url: 404,
  unknown_model: 404,
  response_not_found: 404,
  completion_not_found: 404,
  conversation_not_found: 404,
  conversation_item_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  request_too_large: 413,
  state_too_large: 413,
  unsupported_content_encoding: 415,
  upgrade_required: 426,
  rate_limit_exceeded: 429,
  too_many_pending_requests: 429,
  draining: 503,
  overloaded: 503,
} as const;

/** A reason for which the gateway refuses a request. */
export type RefusalKind = keyof typeof REFUSALS;

/** A request that is refused before any upstream is asked. */
export interface Refusal {
  readonly kind: RefusalKind;
  /** One plain sentence that says what to do. */
  readonly message: string;
  /** Path of the field that is wrong, such as `messages[0].role`. */
  readonly param: string | null;
}

/**
 * Status and `type` of the envelope ("theirs": as the upstream answered), its `code` ("none": the
 * member is left out, with `param`), whether another try or another target may help, and what the
 * circuit breaker hears.
 */
type Verdict = readonly [
  status: number | "theirs",
  type: string,
  code: "kind" | "theirs" | "none",
  repeat: boolean,
  fallback: boolean,
  breaker: "success" | "failure" | "neutral",
];
const YES = true, NO = false;
// deno-fmt-ignore
export const FAULTS = {
  //                            status    type                code      repeat fallback breaker
  no_route:                    [502,      "routing_error",    "none",   NO,    NO,      "neutral"],
  client_cancelled:            [499,      "client_cancelled", "none",   NO,    NO,      "neutral"],
  upstream_throttled:          ["theirs", "theirs",           "theirs", YES,   YES,     "neutral"], // 4xx in retryable_errors
  upstream_unavailable:        ["theirs", "theirs",           "theirs", YES,   YES,     "failure"], // 5xx in retryable_errors
  upstream_error:              ["theirs", "theirs",           "theirs", NO,    YES,     "failure"], // other 5xx
  upstream_rejected:           ["theirs", "theirs",           "theirs", NO,    NO,      "success"], // other 4xx
  invalid_upstream_status:     [502,      "upstream_error",   "kind",   YES,   YES,     "failure"],
  upstream_unreachable:        [502,      "upstream_error",   "kind",   YES,   YES,     "failure"],
  upstream_timeout:            [504,      "upstream_timeout", "kind",   YES,   YES,     "failure"],
  invalid_upstream_response:   [502,      "upstream_error",   "kind",   YES,   YES,     "failure"],
  upstream_response_too_large: [502,      "upstream_error",   "kind",   YES,   YES,     "failure"],
  upstream_idle:               [504,      "upstream_timeout", "kind",   NO,    NO,      "failure"], // silence after delivery began
  circuit_open:                [503,      "upstream_error",   "kind",   NO,    YES,     "neutral"],
  provider_busy:               [503,      "upstream_error",   "kind",   NO,    YES,     "neutral"], // no slot: max_concurrent
  internal_error:              [500,      "server_error",     "kind",   NO,    NO,      "neutral"],
} as const satisfies Record<string, Verdict>;

/** A way in which an accepted request cannot be served. */
export type FaultKind = keyof typeof FAULTS;

/** An accepted request that could not be served. */
export interface Fault {
  readonly kind: FaultKind;
  /** One plain sentence; never holds a key, a URL or a body. */
  readonly message: string;
  /** False only when the upstream certainly did not begin the work: gates repeats of calls that leave state. */
  readonly taken: boolean;
  /** Milliseconds the other side asks to be left alone. */
  readonly retryAfter: number | null;
  /** The upstream's own error, safe to hand on. */
  readonly answer: Answer | null;
  /** Cause of the failed connection, for logs and metrics only; absent where none failed. */
  readonly cause?: ConnectionCause;
}

/** Everything that may go wrong on purpose. What is thrown is a bug and becomes `internal_error` at the rim. */
export type Failure = Refusal | Fault;

/** Tells what the gateway refused from what went wrong later. */
export function isRefusal(failure: Failure): failure is Refusal {
  return failure.kind in REFUSALS;
}

/** Returns the cause of the failed connection that a failure comes from; null where none failed. */
export function connectionCause(failure: Failure | null): ConnectionCause | null {
  return failure !== null && "cause" in failure ? failure.cause ?? null : null;
}
