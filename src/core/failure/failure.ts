import type { ConnectionCause, UpstreamCause } from "./connection_error.ts";
import type { JsonObject } from "../json/json.ts";
import type { HeaderFields } from "../header_fields.ts";

/**
 * End of a call as the access log names it. The list is closed, so that log lines can be counted.
 */
export type End =
  | "complete"
  | "refused"
  | "upstream_status"
  | "upstream_unreachable"
  | "upstream_timeout"
  | "upstream_invalid"
  | "circuit_open"
  | "stream_broken"
  | "stream_idle"
  | "client_gone"
  | "drained"
  | "state_unavailable"
  | "blocked"
  | "internal";

/** Status, code, log end and metric of a kind of refusal. */
interface RefusalTreatment {
  readonly status: number;
  /** `code` of the error; absent if it is the kind. */
  readonly code?: string;
  /** `type` of the error in the OpenAI format; absent if the status decides. */
  readonly type?: string;
  readonly logEnd: End;
  /** Counter that is increased besides that of all requests. */
  readonly countedAs?: "auth_failure" | LimitReason;
}

/** Limits of a client: rate of requests, rate of tokens, concurrent calls, and budgets. */
export const LIMIT_REASONS = ["requests", "tokens", "concurrency", "budget"] as const;

/** The limit of a client that refuses its call. */
export type LimitReason = (typeof LIMIT_REASONS)[number];

const REFUSAL_TABLE = {
  invalid_request_framing: { status: 400, logEnd: "refused" },
  invalid_host: { status: 400, logEnd: "refused" },
  invalid_json: { status: 400, logEnd: "refused" },
  invalid_multipart: { status: 400, logEnd: "refused" },
  invalid_type: { status: 400, logEnd: "refused" },
  invalid_value: { status: 400, logEnd: "refused" },
  invalid_metadata: { status: 400, logEnd: "refused" },
  unsupported_feature: { status: 400, logEnd: "refused" },
  missing_required_parameter: { status: 400, logEnd: "refused" },
  invalid_parameter_combination: { status: 400, logEnd: "refused" },
  previous_response_not_found: { status: 400, logEnd: "refused" },
  provider_not_found: { status: 400, logEnd: "refused" },
  model_not_found: { status: 400, logEnd: "refused" },
  ambiguous_provider: { status: 400, logEnd: "refused" },
  provider_binding_conflict: { status: 400, logEnd: "refused" },
  provider_binding_stale: { status: 400, logEnd: "refused" },
  state_disabled: { status: 400, logEnd: "refused" },
  array_above_max_length: { status: 400, logEnd: "refused" },
  too_many_items: { status: 400, logEnd: "refused" },
  privacy_rule_matched: { status: 400, logEnd: "refused" },
  privacy_unreplaceable: { status: 400, logEnd: "refused" },
  privacy_unread: { status: 400, logEnd: "refused" },
  privacy_too_many_values: { status: 400, logEnd: "refused" },
  duplicate_item_id: { status: 400, logEnd: "refused" },
  conversation_item_limit_exceeded: { status: 400, logEnd: "refused" },
  missing_api_key: { status: 401, logEnd: "refused", countedAs: "auth_failure" },
  invalid_api_key: { status: 401, logEnd: "refused", countedAs: "auth_failure" },
  token_expired: { status: 401, logEnd: "refused", countedAs: "auth_failure" },
  token_not_permitted: { status: 403, logEnd: "refused" },
  origin_not_allowed: { status: 403, logEnd: "refused" },
  host_not_allowed: { status: 403, logEnd: "refused" },
  model_not_allowed: { status: 403, logEnd: "refused" },
  provider_not_allowed: { status: 403, logEnd: "refused" },
  endpoint_not_allowed: { status: 403, logEnd: "refused" },
  model_not_priced: { status: 403, logEnd: "refused" },
  unknown_url: { status: 404, logEnd: "refused" },
  unknown_model: { status: 404, logEnd: "refused", code: "model_not_found" },
  response_not_found: { status: 404, logEnd: "refused" },
  completion_not_found: { status: 404, logEnd: "refused" },
  object_not_found: { status: 404, logEnd: "refused" },
  conversation_not_found: { status: 404, logEnd: "refused" },
  conversation_item_not_found: { status: 404, logEnd: "refused" },
  method_not_allowed: { status: 405, logEnd: "refused" },
  request_timeout: { status: 408, logEnd: "refused" },
  request_too_large: { status: 413, logEnd: "refused" },
  state_too_large: { status: 413, logEnd: "refused" },
  unsupported_content_encoding: { status: 415, logEnd: "refused" },
  upgrade_required: { status: 426, logEnd: "refused" },
  rate_limit_exceeded: { status: 429, logEnd: "refused", countedAs: "requests" },
  token_rate_exceeded: {
    status: 429,
    logEnd: "refused",
    code: "rate_limit_exceeded",
    countedAs: "tokens",
  },
  concurrency_limit_exceeded: { status: 429, logEnd: "refused", countedAs: "concurrency" },
  budget_exceeded: {
    status: 429,
    type: "insufficient_quota",
    logEnd: "refused",
    countedAs: "budget",
  },
  too_many_clients: { status: 429, logEnd: "refused" },
  too_many_end_users: { status: 429, logEnd: "refused" },
  too_many_pending_requests: { status: 429, logEnd: "refused" },
  too_many_sockets: { status: 429, logEnd: "refused" },
  token_counting_unsupported: { status: 501, logEnd: "refused" },
  draining: { status: 503, logEnd: "drained" },
  overloaded: { status: 503, logEnd: "refused" },
  issuer_unavailable: { status: 503, logEnd: "refused" },
  privacy_search_timeout: { status: 503, logEnd: "refused" },
} as const satisfies Readonly<Record<string, RefusalTreatment>>;

/** A reason for which the gateway refuses a request. */
export type RefusalKind = keyof typeof REFUSAL_TABLE;

/** Treatment of each kind of refusal. */
export const REFUSALS: Readonly<Record<RefusalKind, RefusalTreatment>> = REFUSAL_TABLE;

/**
 * Why a request is refused, as data: each error format writes its own sentence
 * (`ErrorFormat.words`), so that a path can be mapped to that of the client without a sentence
 * being read.
 */
export type Reason =
  /** The field is absent. */
  | { readonly kind: "required" }
  /** The field has another type or value than the `expected` one, such as "an integer". */
  | { readonly kind: "unexpected"; readonly expected: string }
  /** The field has no counterpart in the provider's protocol; `advice` is a sentence. */
  | { readonly kind: "not_carried"; readonly advice: string | null }
  /**
   * A sentence that is the same in all formats, around the field: `before` it, and the predicate
   * `rule`.
   */
  | { readonly kind: "rule"; readonly before?: string; readonly rule: string }
  /** A sentence that does not depend on the path of the field. */
  | { readonly kind: "text"; readonly text: string };

/** A refused request; no upstream request was sent. */
export interface Refusal {
  readonly kind: RefusalKind;
  /** Path of the field that is wrong, such as `messages[0].role`; null if it is no single field. */
  readonly at: string | null;
  readonly reason: Reason;
}

/** Reasons for which another target is tried, as `routes[].fallback_on` names them. */
export const FALLBACK_REASONS = ["outage", "context_length", "content_filter"] as const;

/** The default of `routes[].fallback_on`. */
export const DEFAULT_FALLBACK_REASONS: readonly FallbackReason[] = ["outage", "context_length"];

/** A reason for which another target is tried. */
export type FallbackReason = (typeof FALLBACK_REASONS)[number];

/**
 * Treatment of a kind of fault. A `status` or `type` of "upstream" is copied from the upstream's
 * response.
 */
interface FaultTreatment {
  readonly status: number | "upstream";
  readonly type: string;
  /** "none": the error has neither `code` nor `param`. */
  readonly code: "kind" | "upstream" | "none";
  /** True if another attempt at the same target may succeed. */
  readonly retry: boolean;
  /** Reason for which an attempt at another target may succeed; null if none may. */
  readonly fallback: FallbackReason | null;
  /** Verdict of the circuit breaker, if nothing was delivered yet. */
  readonly breaker: "failure" | "neutral";
  readonly logEnd: End;
  /** The client ended the call: neither the gateway nor a provider failed. */
  readonly byClient?: true;
  /** A rule refused the answer of a provider that has not failed. */
  readonly byRule?: true;
  /** The attempt failed before a request was sent. */
  readonly notSent?: true;
}

// deno-fmt-ignore
const FAULT_TABLE = {
  no_route:                    { status: 502,        type: "routing_error",    code: "none",     retry: false, fallback: null,             breaker: "neutral", logEnd: "refused" },
  client_cancelled:            { status: 499,        type: "client_cancelled", code: "none",     retry: false, fallback: null,             breaker: "neutral", logEnd: "client_gone", byClient: true },
  upstream_throttled:          { status: "upstream", type: "upstream",         code: "upstream", retry: true,  fallback: "outage",         breaker: "neutral", logEnd: "upstream_status" }, // 4xx in retryable_errors
  upstream_unavailable:        { status: "upstream", type: "upstream",         code: "upstream", retry: true,  fallback: "outage",         breaker: "failure", logEnd: "upstream_status" }, // 5xx in retryable_errors
  upstream_error:              { status: "upstream", type: "upstream",         code: "upstream", retry: false, fallback: "outage",         breaker: "failure", logEnd: "upstream_status" }, // other 5xx
  upstream_rejected:           { status: "upstream", type: "upstream",         code: "upstream", retry: false, fallback: null,             breaker: "neutral", logEnd: "upstream_status" }, // other 4xx
  context_length_exceeded:     { status: "upstream", type: "upstream",         code: "upstream", retry: false, fallback: "context_length", breaker: "neutral", logEnd: "upstream_status" }, // a prompt that is too long for the model
  content_filtered:            { status: "upstream", type: "upstream",         code: "upstream", retry: false, fallback: "content_filter", breaker: "neutral", logEnd: "upstream_status" }, // only with `fallback_on: content_filter`
  invalid_upstream_status:     { status: 502,        type: "upstream_error",   code: "kind",     retry: true,  fallback: "outage",         breaker: "failure", logEnd: "upstream_invalid" },
  upstream_unreachable:        { status: 502,        type: "upstream_error",   code: "kind",     retry: true,  fallback: "outage",         breaker: "failure", logEnd: "upstream_unreachable" },
  upstream_timeout:            { status: 504,        type: "upstream_timeout", code: "kind",     retry: true,  fallback: "outage",         breaker: "failure", logEnd: "upstream_timeout" },
  invalid_upstream_response:   { status: 502,        type: "upstream_error",   code: "kind",     retry: true,  fallback: "outage",         breaker: "failure", logEnd: "upstream_invalid" },
  upstream_response_too_large: { status: 502,        type: "upstream_error",   code: "kind",     retry: true,  fallback: "outage",         breaker: "failure", logEnd: "upstream_invalid" },
  promise_broken:              { status: 502,        type: "upstream_error",   code: "kind",     retry: true,  fallback: "outage",         breaker: "neutral", logEnd: "upstream_invalid" }, // verified fields: the provider responded, only not as promised
  upstream_idle:               { status: 504,        type: "upstream_timeout", code: "kind",     retry: false, fallback: null,             breaker: "failure", logEnd: "stream_idle" }, // silence after delivery began
  circuit_open:                { status: 503,        type: "upstream_error",   code: "kind",     retry: false, fallback: "outage",         breaker: "neutral", logEnd: "circuit_open", notSent: true },
  provider_busy:               { status: 503,        type: "upstream_error",   code: "kind",     retry: false, fallback: "outage",         breaker: "neutral", logEnd: "refused", notSent: true }, // no slot: max_concurrent
  provider_keys_resting:       { status: 429,        type: "rate_limit_error", code: "kind",     retry: false, fallback: "outage",         breaker: "neutral", logEnd: "refused", notSent: true }, // all keys of a pool were refused with 429
  provider_keys_refused:       { status: 503,        type: "upstream_error",   code: "kind",     retry: false, fallback: "outage",         breaker: "neutral", logEnd: "refused", notSent: true }, // the same with 401, 402 or 403
  credential_unavailable:      { status: 503,        type: "upstream_error",   code: "kind",     retry: false, fallback: "outage",         breaker: "neutral", logEnd: "refused", notSent: true }, // of providers.*.credential
  state_unavailable:           { status: 503,        type: "server_error",     code: "kind",     retry: false, fallback: null,             breaker: "neutral", logEnd: "state_unavailable" },
  state_unreadable:            { status: 503,        type: "server_error",     code: "kind",     retry: false, fallback: null,             breaker: "neutral", logEnd: "state_unavailable" }, // wrong encryption key, unknown version
  response_refused:            { status: 400,        type: "invalid_request_error", code: "kind", retry: false, fallback: null,             breaker: "neutral", logEnd: "blocked", byRule: true }, // a rule of privacy.rules with phase: response
  internal_error:              { status: 500,        type: "server_error",     code: "kind",     retry: false, fallback: null,             breaker: "neutral", logEnd: "internal" },
} as const satisfies Readonly<Record<string, FaultTreatment>>;

/** A reason for which an accepted request fails. */
export type FaultKind = keyof typeof FAULT_TABLE;

/** Treatment of each kind of fault. */
export const FAULTS: Readonly<Record<FaultKind, FaultTreatment>> = FAULT_TABLE;

/** Body of an error response, sent with the same bytes to clients that use its format. */
export interface RawError {
  readonly format: "openai" | "messages";
  readonly body: Uint8Array<ArrayBuffer>;
}

/** An error that an upstream reported, without the secrets of its provider. */
export interface UpstreamError {
  /**
   * Status of the upstream's response. If the error came with status 200, the status that matches
   * the error.
   */
  readonly status: number;
  /** Response headers that may go to the client. */
  readonly headers: HeaderFields;
  /** The upstream's error object: `message`, `type`, `param`, `code` and other fields. */
  readonly error: JsonObject;
  /** The body of the upstream's response; null if clients cannot receive it as it is. */
  readonly raw: RawError | null;
}

/**
 * Refusal of a key by an upstream: `throttled` with status 429, `rejected` with 401, 402 or 403.
 */
export interface KeyRefusal {
  readonly kind: "throttled" | "rejected";
  readonly status: number;
  /** Code of the upstream's error. */
  readonly code: string | null;
  /** The model for which alone the key is refused; absent if the key is refused for all. */
  readonly model?: string;
  /** True if the key is wrong whatever the request; absent if the request may be the reason. */
  readonly isCertain?: boolean;
}

/** An accepted request that could not be served. */
export interface Fault {
  readonly kind: FaultKind;
  /** Error message for the client: one plain sentence without keys, URLs or bodies. */
  readonly message: string;
  /**
   * False if the upstream certainly did not start processing. Requests with side effects are
   * retried only then.
   */
  readonly mayHaveRun: boolean;
  /** `Retry-After` in milliseconds; null for none. */
  readonly retryAfterMs: number | null;
  /** The upstream's own error; null if it reported none. */
  readonly upstream: UpstreamError | null;
  /**
   * Refusal of the key by status, before the request was processed; absent for every other failure.
   */
  readonly keyRefusal?: KeyRefusal;
  /** True if the provider refuses a tool loop because it continues without thinking. */
  readonly isThinkingMissing?: true;
  /** Cause of the failure, for logs and metrics only; absent if its kind says all. */
  readonly cause?: UpstreamCause;
}

/**
 * An expected failure of a call. A thrown error is a bug and becomes `internal_error` in the
 * server.
 */
export type Failure = Refusal | Fault;

/** True if the gateway refused the request; false if an accepted request failed. */
export function isRefusal(failure: Failure): failure is Refusal {
  return failure.kind in REFUSALS;
}

/** True if the name is that of a fault. */
export function isFaultKind(name: string): name is FaultKind {
  return name in FAULTS;
}

/** Returns the code of a failure as clients receive it; its kind if it comes from a provider. */
export function codeOf(failure: Failure): string {
  return isRefusal(failure) ? REFUSALS[failure.kind].code ?? failure.kind : failure.kind;
}

/** Returns the status of the response for a failure. */
export function statusOf(failure: Failure): number {
  if (isRefusal(failure)) return REFUSALS[failure.kind].status;
  const { status } = FAULTS[failure.kind];
  return status === "upstream" ? failure.upstream?.status ?? 502 : status;
}

/**
 * True if the gateway or a provider failed: the client neither sent a wrong request nor ended the
 * call, and no rule refused the answer.
 */
export function isServerFailure(failure: Failure): boolean {
  if (isRefusal(failure)) return false;
  const { byClient, byRule } = FAULTS[failure.kind];
  return byClient !== true && byRule !== true;
}

/** Returns how the log names the end of a call that failed before delivery began. */
export function logEndOf(failure: Failure): End {
  return isRefusal(failure) ? REFUSALS[failure.kind].logEnd : FAULTS[failure.kind].logEnd;
}

/** Returns the cause of a failure, as logs and metrics name it; null if its kind says all. */
export function upstreamCause(failure: Failure | null): UpstreamCause | null {
  return failure !== null && "cause" in failure ? failure.cause ?? null : null;
}

/** Returns the cause of the failed connection that a failure comes from; null where none failed. */
export function connectionCause(failure: Failure | null): ConnectionCause | null {
  const cause = upstreamCause(failure);
  return cause === "first_content" ? null : cause;
}
