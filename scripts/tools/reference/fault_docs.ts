import type { FaultKind } from "../../../src/core/failure/failure.ts";
import type { FailureDoc } from "../../../src/core/failure/refusal_docs.ts";

/** Descriptions of all faults. A new kind without one does not compile. */
export const FAULT_DOCS: Readonly<Record<FaultKind, FailureDoc>> = {
  no_route: {
    cause: "No route of the configuration matches the request.",
    cure: "Add a route; `switchyard explain` shows why none matches.",
    example: "No configured route matches this request.",
  },
  client_cancelled: {
    cause:
      "The client disconnected before the response was complete. Only logs and metrics show it.",
    cure: "Raise the timeout of the client if it gave up too early.",
    example: "The client has gone.",
  },
  upstream_throttled: {
    cause: "The provider responded with a 4xx status of `retry.retryable_errors`, such as 429.",
    cure: "Wait for `Retry-After`, raise the provider's limit, or add a fallback.",
    example: "The provider responded with status 429.",
  },
  upstream_unavailable: {
    cause: "The provider responded with a 5xx status of `retry.retryable_errors`, such as 503.",
    cure: "See the status page of the provider, or add a fallback.",
    example: "The provider responded with status 503.",
  },
  upstream_error: {
    cause: "The provider responded with another 5xx status.",
    cure: "See the message of the provider, or add a fallback.",
    example: "The provider responded with status 501.",
  },
  upstream_rejected: {
    cause:
      "The provider responded with another 4xx status: it rejects the request or the credentials.",
    cure: "See the message of the provider; check `api_key` and the model name.",
    example: "The provider responded with status 404.",
  },
  context_length_exceeded: {
    cause: "The provider rejects the prompt because it is longer than the context of the model.",
    cure:
      "Add a fallback with a larger model and the `context_size` of both, or shorten the prompt.",
    example: "The provider responded with status 400.",
  },
  content_filtered: {
    cause: "The filter of the provider has refused the prompt, or ended the response before its " +
      "content. Only with `content_filter` in `fallback_on` of the route; else it is a response or " +
      "`upstream_rejected`.",
    cure: "Change the prompt, or add a fallback with another filter.",
    example: "The filter of the provider ended the response before its content.",
  },
  invalid_upstream_status: {
    cause: "The provider responded with a status that is neither a success nor an error, " +
      "such as a redirect.",
    cure: "Check `base_url` of the provider.",
    example: "The provider responded with status 302.",
  },
  upstream_unreachable: {
    cause: "The connection to the provider failed or broke.",
    cure: "See `upstream_cause` in the [access line](log-fields.md), " +
      "and the [causes](../operate/monitoring.md#failed-connections).",
    example: "The provider refused the connection.",
  },
  upstream_timeout: {
    cause:
      "The provider did not respond within its `timeout` or `connect_timeout`, or its stream had no " +
      "content within `first_content_timeout`: then `upstream_cause` is `first_content`.",
    cure: "Raise the timeout for slow models, or add a fallback.",
    example: "The provider did not respond within its configured timeout.",
  },
  invalid_upstream_response: {
    cause: "The response of the provider breaks its protocol: " +
      "no valid JSON, wrong fields, or a stream without its end.",
    cure: "Check `type` and `base_url` of the provider, and its log.",
    example: "The provider's stream is not valid UTF-8.",
  },
  upstream_response_too_large: {
    cause: "The response of the provider, or one record of its stream, exceeds the size limit, " +
      "or its JSON has too many members or levels to be parsed.",
    cure: "Request less output.",
    example: "The provider's response is too large.",
  },
  promise_broken: {
    cause: "The response does not do what the request demands, for example `strict: true` or a " +
      "required call, where the gateway [checks](../guide/providers.md#verified) it instead of the " +
      "provider; or its check would take more steps than one response may take.",
    cure: "Send the request again, use a model that follows such demands, or add a fallback.",
    example: "The response does not hold the required call, so it breaks 'tool_choice'.",
  },
  upstream_idle: {
    cause: "The provider began its response, then sent nothing for `stream_idle_timeout`.",
    cure: "Send the request again. Raise `stream_idle_timeout` if the model thinks for longer.",
    example: "The provider was silent for too long within its response.",
  },
  circuit_open: {
    cause:
      "The model of the provider, or connections to it, failed `circuit_breaker.failure_threshold` " +
      "times in a row; the gateway sends it nothing for `circuit_breaker.open_duration`.",
    cure: "Wait for `Retry-After`, repair the provider, or add a fallback.",
    example:
      "The provider has failed too often, so no requests are sent to it for a while; send the request again later.",
  },
  provider_busy: {
    cause:
      "The provider is at its `max_concurrent`, and its queue is full or `queue_timeout` has passed.",
    cure: "Wait for `Retry-After`, or raise `max_concurrent` or `max_queued`.",
    example: "The provider is at its limit of concurrent requests; send the request again later.",
  },
  provider_keys_resting: {
    cause: "All `api_keys` of the provider rest after status 429.",
    cure: "Wait for `Retry-After`, raise the limits at the provider, or add a key or a fallback.",
    example: "All keys of the provider rest after status 429; send the request again later.",
  },
  provider_keys_refused: {
    cause:
      "All `api_keys` of the provider rest, and the provider refused at least one with status " +
      "401, 402 or 403. The log names the key.",
    cure: "Replace the key, or add a key or a fallback.",
    example: "The provider rejected all configured keys; the log names them.",
  },
  credential_unavailable: {
    cause:
      "The `credential` of the provider could not be had, or has ended while its refreshes failed. " +
      "The log names the reason.",
    cure: "Wait for `Retry-After`; correct `credential` or its source, or add a fallback.",
    example: "The gateway has no usable credential for the provider; send the request again later.",
  },
  state_unavailable: {
    cause: "The request needs stored state, and the state store is not available.",
    cure: "Try again after `Retry-After`. A Responses request can go on with `store: false`.",
    example:
      "The state store is not available, so the response cannot be stored; send 'store: false' to go on without it, or try again.",
  },
  state_unreadable: {
    cause:
      "The stored object was encrypted with a key that `state.encryption_keys` does not have, " +
      "or a newer version wrote it.",
    cure: "Add the earlier key to `state.encryption_keys`; the log names the type of the object.",
    example: "The stored object cannot be read.",
  },
  response_refused: {
    cause: "The response of the provider has a value that a rule of `privacy.rules` with " +
      "`phase: response` and `action: refuse` does not let pass. A stream that has begun ends with it.",
    cure: "Ask otherwise, or change the rule; the log names it in `redacted_out`.",
    example: "A rule of the gateway does not let this answer pass.",
  },
  internal_error: {
    cause: "A bug in the gateway.",
    cure: "Report it with the line `internal error` of the log.",
    example: "The gateway has failed; this is a bug in it.",
  },
};
