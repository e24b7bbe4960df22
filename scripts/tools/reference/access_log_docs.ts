import type { End } from "../../../src/core/failure/failure.ts";
import type { AccessField } from "../../../src/observe/access_log.ts";

/** Description of one field of the access line for the reference page of log fields. */
export interface FieldDoc {
  readonly meaning: string;
  readonly example: string;
}

/** Descriptions of all fields of an access line. A new field without one does not compile. */
export const ACCESS_FIELD_DOCS: Readonly<Record<AccessField, FieldDoc>> = {
  request_id: {
    meaning: "ID of the request; the response header `X-Request-ID` has the same.",
    example: "0198e1c5-3f0e-4c0d-9a57-2f4f1f1c7b11",
  },
  method: { meaning: "HTTP method.", example: "POST" },
  path: {
    meaning: "Path of the URL, without the query. Values of privacy rules are their labels.",
    example: "/v1/chat/completions",
  },
  status: {
    meaning: "HTTP status of the response. A stream that breaks keeps the status that was sent.",
    example: "200",
  },
  client: {
    meaning: "Name of the client key, or of a client with a token: its issuer, a slash, and its " +
      "subject.",
    example: "team-a",
  },
  issuer: { meaning: "Name of the issuer of the client's token.", example: "corp" },
  template: { meaning: "Name of the client's template.", example: "developer" },
  end_user: {
    meaning: "End user of the client key: 12 digits of the SHA-256 of both names.",
    example: "9f86d081884c",
  },
  client_secret: {
    meaning: "`previous` if the client has sent a secret that its key has replaced.",
    example: "previous",
  },
  session: {
    meaning:
      "Name of the session; one of more than 256 characters is replaced by its SHA-256. On `/v1/messages` without a session: `metadata.user_id`, unless it has more than 4,096.",
    example: "build-42",
  },
  session_from: {
    meaning:
      "What named the session: `header` (`X-Gateway-SessionID`), `claude-code`, `codex`, `pi` or `opencode` (a header of that agent), `prompt_cache_key`, `user_id`, `conversation`, `previous_response_id`, or `connection` for a WebSocket that names none.",
    example: "codex",
  },
  route: { meaning: "Name of the route that matched.", example: "main" },
  provider: {
    meaning: "ID of the provider that served the request, or of the last one tried.",
    example: "openai",
  },
  provider_key: {
    meaning:
      "Name of the key that served the request, or of the last one used; only for a provider " +
      "with several `api_keys`.",
    example: "spare",
  },
  model: { meaning: "Model that was requested from the provider.", example: "gpt-4o-mini" },
  stream: {
    meaning:
      "True if the client requested a stream, also if the request was refused before it began. " +
      "Messages on a WebSocket always count as streams.",
    example: "true",
  },
  duration_ms: {
    meaning: "Milliseconds from the request to the last byte of its response.",
    example: "1834.2",
  },
  ttft_ms: {
    meaning: "Milliseconds from the request to the first event of its stream.",
    example: "412.7",
  },
  early_head_ms: {
    meaning:
      "Time until the head of the stream and its first sign of life, if `early_head` sent them " +
      "before a provider had responded.",
    example: "20000",
  },
  held: {
    meaning:
      "`complete` if `hold` held the stream back until it was complete, `released` if only its begin.",
    example: "complete",
  },
  recorded: {
    meaning: "`all` if the call is recorded with its content, `heads` without it.",
    example: "all",
  },
  queued_ms: {
    meaning: "Milliseconds that the request waited for a slot of a provider with `max_concurrent`.",
    example: "120.5",
  },
  tokens_in: {
    meaning: "Input tokens that the provider counted, or an estimate.",
    example: "1200",
  },
  tokens_out: {
    meaning: "Output tokens that the provider counted, or an estimate.",
    example: "85",
  },
  tokens_estimated: {
    meaning: "True if tokens of a client key were estimated, because the provider reported none " +
      "or the client disconnected before.",
    example: "true",
  },
  cost_unknown: {
    meaning:
      "True if the model has a price, but the provider did not report what the request used.",
    example: "true",
  },
  custom_calls: {
    meaning: "Number of calls of custom tools that the provider made as calls of functions.",
    example: "2",
  },
  cache: { meaning: "Result of the response cache: `HIT` or `MISS`.", example: "MISS" },
  cache_breakpoints: {
    meaning: "Number of breakpoints that `cache_breakpoints: auto` has set in the request.",
    example: "4",
  },
  redacted: {
    meaning:
      "Values of the request that privacy rules have found, by rule; also of rules that only count.",
    example: "mail:2,cards:1",
  },
  redacted_out: {
    meaning: "Values of the answer that privacy rules with `phase: response` have found, by rule.",
    example: "strangers:1",
  },
  unread: {
    meaning: "Parts of the request that no privacy rule can read, such as images and files.",
    example: "1",
  },
  restored: {
    meaning: "Tokens of the answer that became the client's values again.",
    example: "3",
  },
  unknown_tokens: {
    meaning: "Words of the answer in the form of a token that belong to no value of the request.",
    example: "1",
  },
  retries: { meaning: "Number of retries that were sent.", example: "1" },
  fallback: { meaning: "True if the request fell back to another target.", example: "false" },
  tries: {
    meaning: "All attempts in order, each as provider and outcome, " +
      "with the name of its key in brackets if the provider has several `api_keys`. " +
      "An outcome is `success` or a failure of the [errors page](errors.md).",
    example: "openai:upstream_timeout,backup:success",
  },
  upstream_cause: {
    meaning: "Cause of the [failed connection](../operate/monitoring.md#failed-connections) " +
      "that ended the request. Clients never see it.",
    example: "dns",
  },
  end: { meaning: "How the request ended: one value of the list below.", example: "complete" },
  trace_id: {
    meaning: "Trace of the request, while its [spans](../operate/tracing.md) are exported.",
    example: "0af7651916cd43dd8448eb211c80319c",
  },
  span_id: {
    meaning: "Span of the request, while its spans are exported.",
    example: "b7ad6b7169203331",
  },
};

/** Descriptions of all values of `end`. A new value without one does not compile. */
export const END_DOCS: Readonly<Record<End, string>> = {
  complete: "The whole response was delivered.",
  refused:
    "The gateway refused the request, found no route, or found no free slot at the provider.",
  upstream_status: "The provider responded with an error status.",
  upstream_unreachable: "The connection to the provider failed before delivery began.",
  upstream_timeout: "The provider did not respond within its timeout.",
  upstream_invalid: "The response of the provider was not valid or too large.",
  circuit_open: "The circuit breaker of the provider was open; nothing was sent.",
  stream_broken: "The provider failed after delivery to the client had begun.",
  stream_idle: "The provider was silent for `stream_idle_timeout` within its response.",
  client_gone: "The client disconnected before the response was complete.",
  drained: "The shutdown of the gateway refused or ended the request.",
  state_unavailable:
    "The request needs stored state, and the store was not available or could not read it.",
  blocked: "A privacy rule for responses refused the response of the provider.",
  internal: "A bug in the gateway; another line has its place in the code.",
};
