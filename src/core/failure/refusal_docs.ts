import type { RefusalKind } from "./failure.ts";

/** Description of one kind of failure for the reference page of errors. */
export interface FailureDoc {
  /** Reason for which the gateway answers with this error. */
  readonly cause: string;
  /** Change to the request, the configuration or the provider that ends the error. */
  readonly cure: string;
  /** Message as the gateway writes it for one case. */
  readonly example: string;
}

/** Advice for an isolated client key, for which no header leads to an object of unknown owner. */
const ISOLATED_CURE = "A key with `isolate_clients` needs `adopt_unknown: true` for it.";

/** Descriptions of all refusals. A new kind without one does not compile. */
export const REFUSAL_DOCS: Readonly<Record<RefusalKind, FailureDoc>> = {
  invalid_request_framing: {
    cause:
      "The request has both `Content-Length` and `Transfer-Encoding`, or a transfer coding besides `chunked`. The connection is closed.",
    cure:
      "Send one of the two headers, and no transfer coding but `chunked`. Check proxies between the client and the gateway.",
    example: "The request has both Content-Length and Transfer-Encoding; send one of them.",
  },
  invalid_host: {
    cause: "The `Host` header is not one host name or IP address with an optional port.",
    cure: "Send the host of the gateway's address, once. Check proxies that set the header.",
    example: "The Host header is not one host name or IP address with an optional port.",
  },
  invalid_json: {
    cause: "The request body is not one JSON object in UTF-8, or an object has a key twice.",
    cure: "Send one valid JSON object with each key once.",
    example: "The request body is not valid UTF-8.",
  },
  invalid_multipart: {
    cause: "The request body is not one complete `multipart/form-data` body that every parser " +
      "reads the same way, or it has two parts `model`.",
    cure:
      "Send each field as one part with one name, lines that end in CRLF, and the last boundary.",
    example: "The multipart body has no closing boundary.",
  },
  invalid_type: {
    cause: "The field at `param` has a value of the wrong JSON type.",
    cure: "Send the type that the message names.",
    example: "The field 'messages' must be an array.",
  },
  invalid_value: {
    cause:
      "The field, header or query parameter has the right type but a value that is not permitted.",
    cure: "Send a value that the message names.",
    example: "The request has more than one X-Gateway-Provider header; send it once.",
  },
  invalid_metadata: {
    cause: "`metadata` has too many keys, too long keys or values, or a value that is not a text.",
    cure: "Shorten the metadata and send texts as values.",
    example: "'metadata.user' must be a text.",
  },
  unsupported_feature: {
    cause: "No target of the route can carry the field at `param` to its provider.",
    cure: "Remove the field, or send the request to a provider that supports it. " +
      "If the provider does, set its key under `capabilities`.",
    example: "A local conversation takes no references; send the item itself.",
  },
  missing_required_parameter: {
    cause: "The request lacks the field at `param`.",
    cure: "Add the field.",
    example: "Name a model: the route leaves it open.",
  },
  invalid_parameter_combination: {
    cause: "The request has two fields that exclude each other.",
    cure: "Send one of them.",
    example: "Send either 'previous_response_id' or 'conversation', not both.",
  },
  previous_response_not_found: {
    cause:
      "`previous_response_id` names a response that does not exist, was deleted or has expired.",
    cure: "Send the whole conversation as `input`.",
    example: "There is no such response to continue; send the whole conversation as input.",
  },
  provider_not_found: {
    cause: "The requested provider is not configured, or the matching route has no target with it.",
    cure: "Name a provider of the route, or name none.",
    example: "There is no provider with the requested name.",
  },
  model_not_found: {
    cause: "Each target of the matching route has a `model`, and none the requested one.",
    cure:
      "Request a model of the route (`switchyard explain` shows the targets), or leave out `model` " +
      "at a target, with `default_model` at its provider for requests without one.",
    example:
      "The route 'main' has no target with the requested model, because each target has its own; " +
      'in the file, a target without a "model" serves every model.',
  },
  ambiguous_provider: {
    cause: "Several providers could serve the request, and nothing in it selects one.",
    cure: "Name a provider with the header `X-Gateway-Provider`.",
    example: "Several providers can do this; name one with the X-Gateway-Provider header.",
  },
  provider_binding_conflict: {
    cause: "Two providers have issued the same ID for an object.",
    cure: "Name the provider with the header `X-Gateway-Provider`.",
    example: "Two providers have used this id; name one with the X-Gateway-Provider header.",
  },
  provider_binding_stale: {
    cause: "The provider that owns the object now has another URL or other credentials.",
    cure: "Name the provider with the header `X-Gateway-Provider` if the object is still there.",
    example: "The account of the provider that owns this id has changed since; " +
      "name the provider with the X-Gateway-Provider header.",
  },
  state_disabled: {
    cause: "The request needs stored state, and `state.store` is `none`.",
    cure: "Do what the message says, such as to send the whole conversation as `input`, " +
      "or set `state.store` to `memory`, `sqlite` or `valkey`.",
    example:
      "This gateway stores no responses (state.store is none); send the whole conversation as input.",
  },
  array_above_max_length: {
    cause: "The array at `param` has too many elements.",
    cure: "Split the array over several requests.",
    example: "'items' may hold at most 20 items; add the rest with another request.",
  },
  too_many_items: {
    cause: "The response would be stored with more items than `state.max_items`.",
    cure: "Send fewer items, compact the dialogue, or set `store: false`.",
    example: "A stored response has at most 10000 items with those before it; send fewer items.",
  },
  duplicate_item_id: {
    cause: "A new item has the ID of an item that is already in the conversation.",
    cure: "Remove the item, or send it without its ID.",
    example: "The conversation has an item with the id of an added one already; leave it out.",
  },
  conversation_item_limit_exceeded: {
    cause: "The conversation would have more items than one conversation may have.",
    cure: "Delete items, or create another conversation.",
    example: "A conversation holds at most 1000 items; delete some or begin another one.",
  },
  privacy_rule_matched: {
    cause: "A privacy rule with `action: refuse` has found a value in the field at `param`.",
    cure: "Send the request without the value.",
    example: "'messages[0].content' has a value that the privacy rule 'projects' refuses.",
  },
  privacy_unreplaceable: {
    cause:
      "A privacy rule has found a value in the name of a member or of a tool, in an ID or in a number, " +
      "where neither a token nor a mask can stand for it.",
    cure: "Send the value in a text, or omit it.",
    example: "'metadata.*' has a value of the privacy rule 'mail' in a name or a number.",
  },
  privacy_unread: {
    cause: "The policy of the client has `unread: refuse`, and the field at `param` is an image, " +
      "a document, audio or a list of tokens.",
    cure: "Omit the data, or use a key whose policies allow it.",
    example:
      "'messages[0].content[1].image_url.url' has data that the privacy rules of this gateway " +
      "cannot read; omit it.",
  },
  privacy_too_many_values: {
    cause:
      "The privacy rules have found more than 10,000 different values in one request, or more than 50,000 in all.",
    cure: "Send fewer values in one request.",
    example: "The request has more than 10000 different values that privacy rules replace, " +
      "or more than 50000 in all; send fewer.",
  },
  missing_api_key: {
    cause: "Client keys are enabled, and the request has none.",
    cure: "Send a key of `security.api_key.keys` in the header that the message names.",
    example: "Send a client key in the header Authorization: Bearer KEY.",
  },
  invalid_api_key: {
    cause: "The client key of the request is not configured, is `disabled`, or has expired.",
    cure: "Send a configured key. Do not send the key of a provider.",
    example: "This client key is not known here; send one that is.",
  },
  token_expired: {
    cause: "The token of the request has ended, by its claim `exp`.",
    cure: "Request a new token from its issuer. A WebSocket needs a new connection.",
    example: "This token expired at 2026-11-28T12:00:00Z; send a new one.",
  },
  token_not_permitted: {
    cause: "The token is valid, and no entry of `rules` of its issuer fits its claims.",
    cure: "Give its client a group or role that a rule names, or add a rule.",
    example: "This token is valid, but no rule of the gateway fits its claims; ask its operator.",
  },
  origin_not_allowed: {
    cause: "A web page of an origin that is not allowed has called the gateway.",
    cure: "Add the origin to `server.allowed_origins`.",
    example: "Pages of this web origin may not call the gateway; add it to server.allowed_origins.",
  },
  host_not_allowed: {
    cause: "The `Host` header has a name that the gateway does not serve.",
    cure: "Add the name to `server.allowed_hosts`, or call by IP address.",
    example: "The gateway does not answer to this host name; add it to server.allowed_hosts.",
  },
  model_not_allowed: {
    cause: "No target that could serve the request has a model that `models` of the client key " +
      "permits, or the object of the request was made with another model.",
    cure: "Request a model of `GET /v1/models`, or add the model to the key; " +
      "`switchyard explain --key NAME` shows what a key may use.",
    example: "This client key may not use this model; " +
      "GET /v1/models lists the models that it may use.",
  },
  provider_not_allowed: {
    cause: "`providers` of the client key has neither the requested provider nor one of the " +
      "targets, or the object of the request belongs to another provider.",
    cure: "Request no provider, or add it to the key.",
    example: "This client key may not use this provider; request another one, " +
      "or leave the choice to the route.",
  },
  endpoint_not_allowed: {
    cause: "`endpoints` of the client key does not have the endpoint.",
    cure: "Send another client key, or add the endpoint to this one.",
    example: "This client key may not use this endpoint; send the request with another key.",
  },
  model_not_priced: {
    cause:
      "The client key has a budget in USD, and no target of the route has a price for the operation.",
    cure:
      "Set the price of the model in `pricing`; for images, speech and transcripts also per image, " +
      "character and minute.",
    example: "This client key has a budget in USD, and the price of this model is not known.",
  },
  unknown_url: {
    cause: "The gateway serves no such path.",
    cure:
      "Check the path and the base URL of the client; most clients need one that ends in `/v1`.",
    example: "This path is not offered here; 'switchyard help endpoints' lists the paths.",
  },
  unknown_model: {
    cause: "`GET /v1/models/{model}` names a model that no provider lists.",
    cure: "Use an ID from `GET /v1/models`.",
    example: "There is no such model; GET /v1/models lists them.",
  },
  response_not_found: {
    cause: "The response does not exist, was deleted, has expired, was sent with `store: false`, " +
      "or belongs to another client key.",
    cure: "Name the provider with the header `X-Gateway-Provider` if the provider stores it. " +
      ISOLATED_CURE,
    example: "There is no such response here; it may be too old, deleted, or not stored.",
  },
  completion_not_found: {
    cause: "The gateway does not know which provider stores the completion, " +
      "or it belongs to another client key.",
    cure: "Name the provider with the header `X-Gateway-Provider`. " + ISOLATED_CURE,
    example: "It is not known which provider stores this completion; " +
      "name the provider in the X-Gateway-Provider header.",
  },
  object_not_found: {
    cause: "The gateway does not know which provider stores the file, batch or upload, " +
      "or it belongs to another client key.",
    cure: "Name the provider with the header `X-Gateway-Provider`. " + ISOLATED_CURE,
    example: "It is not known which provider stores this file; " +
      "name the provider in the X-Gateway-Provider header.",
  },
  conversation_not_found: {
    cause: "The conversation does not exist, was deleted, has expired, " +
      "or belongs to another client key.",
    cure: "Create a conversation.",
    example: "There is no such conversation; " +
      "it may have been deleted or have been unused for too long.",
  },
  conversation_item_not_found: {
    cause: "The conversation has no item with this ID.",
    cure: "List the items of the conversation.",
    example: "There is no such item in the conversation.",
  },
  method_not_allowed: {
    cause: "The path exists, but not with this method.",
    cure: "Use a method of the response header `Allow`.",
    example: "Use POST on this path.",
  },
  request_timeout: {
    cause:
      "The request body brought less than 32 KiB within `server.body_timeout`, and was not complete then. The connection is closed.",
    cure:
      "Send the request again, faster, and not in tiny chunks. Raise `server.body_timeout` for slow clients.",
    example: "Less than 32 KiB more of the request body came in 30s; send it faster.",
  },
  request_too_large: {
    cause:
      "The request body has more than 10 MiB (`/v1/messages`: 32 MiB) or more JSON members, or different keys of them, than `server.max_json_members` permits. The head of a WebSocket handshake has more than 32 KiB.",
    cure: "Send less.",
    example: "The request body is larger than 10 MiB; send less.",
  },
  state_too_large: {
    cause:
      "The state of a conversation or of a WebSocket connection would be too large, or the stored items that a request names are.",
    cure: "Delete items, or begin another conversation.",
    example:
      "The conversation would be larger than 64 MiB; delete some items or begin another one.",
  },
  unsupported_content_encoding: {
    cause: "The request has a `Content-Encoding`.",
    cure: "Send the body without one.",
    example: "The request body has the content encoding 'gzip'; send it without one.",
  },
  upgrade_required: {
    cause:
      "A `GET` without a WebSocket upgrade, or with another version of it than 13, was sent to " +
      "a path for WebSocket.",
    cure: "Open a WebSocket of version 13, or send a `POST`.",
    example: "This path is for WebSocket connections; " +
      "send an upgrade request, or POST for one response.",
  },
  rate_limit_exceeded: {
    cause: "The client has exceeded `rate_limiting.requests_per_minute` and its burst.",
    cure: "Wait for `Retry-After`, or raise the limit.",
    example: "Too many requests; try again in 2 s.",
  },
  token_rate_exceeded: {
    cause: "The client key, or one of its groups, has used more than its `tokens_per_minute`.",
    cure: "Wait for the time in `Retry-After`, or raise the rate of tokens.",
    example: "Too many tokens of the group 'apps'; try again in 30 s.",
  },
  concurrency_limit_exceeded: {
    cause: "The client key has as many running calls as its `max_concurrent` allows.",
    cure: "Send the request when a call has ended, or raise `max_concurrent` of the key.",
    example: "Too many concurrent calls: this client key may have 20; try again in 1 s.",
  },
  budget_exceeded: {
    cause: "The client key, or one of its groups, has used a budget. `X-Gateway-Budget` shows all.",
    cure: "Wait until the window of the budget ends, or raise the budget.",
    example:
      "The budget of this client key of 20 USD per day is used up; its window ends at 2026-11-23T00:00:00Z.",
  },
  too_many_clients: {
    cause: "This process counts limits of as many clients with tokens as it can, " +
      "and all of them have used something that still counts.",
    cure: "Send the request again later, or serve fewer clients by one process.",
    example:
      "The gateway counts limits of 10000 clients with tokens, and has no room for one more; " +
      "try again in 60 s.",
  },
  too_many_end_users: {
    cause:
      "The client key has as many end users with limits in use as `end_users.max` allows, or all keys together have 100,000.",
    cure: "Send the request again later, or raise `end_users.max`.",
    example:
      "The gateway counts limits of 1000 end users of this client key, and of 100000 in all, " +
      "and has no room for one more; try again in 60 s.",
  },
  too_many_pending_requests: {
    cause: "Too many requests wait on one WebSocket connection.",
    cure: "Wait for responses before sending more, or open another connection.",
    example: "At most 16 requests may wait on one socket; send more when some are answered.",
  },
  too_many_sockets: {
    cause:
      "The client key, or the client address without keys, has as many open WebSocket connections as " +
      "`server.max_sockets_per_client` allows. Or its port has more than 16 connections to several addresses of the gateway.",
    cure:
      "Close a connection or use an open one, or raise the limit. Or connect from another port.",
    example: "This client has 256 open sockets, as many as server.max_sockets_per_client allows; " +
      "close one.",
  },
  token_counting_unsupported: {
    cause:
      "`POST /v1/messages/count_tokens` reached a provider that cannot count the tokens of a " +
      "request. The gateway never estimates them.",
    cure: "Send the request to a provider of type `messages`, or to one that declares " +
      "`capabilities.response_input_tokens`. Clients that can estimate do so by themselves.",
    example:
      "This provider cannot count tokens; send the request to a provider of type messages, " +
      "or to one that declares capabilities.response_input_tokens.",
  },
  draining: {
    cause: "The gateway is shutting down.",
    cure: "Send the request again; a load balancer sends it to another instance.",
    example: "The gateway is shutting down; send the request again.",
  },
  issuer_unavailable: {
    cause: "The keys of the issuer of the token are not known: they are being fetched, " +
      "because the token names a new one, or could not be fetched.",
    cure: "Send the request again. If it lasts, see the warnings in the log, " +
      "and `gateway_issuer_keys_age_seconds`.",
    example: "The keys of the issuer 'corp' are not available; try again in 1 s.",
  },
  privacy_search_timeout: {
    cause:
      "The privacy rules took longer for the request than `privacy.max_search_time`. Nothing was sent.",
    cure: "Send a smaller request, give rules with `pattern` a `contains`, or raise the time.",
    example: "The privacy rules of this gateway took longer than privacy.max_search_time; " +
      "send a smaller request.",
  },
  overloaded: {
    cause:
      "`server.max_concurrent_requests`, `server.max_body_memory` or `server.max_response_memory` is reached, or the heap of the process is nearly full.",
    cure: "Wait for `Retry-After`, or raise the limit that the message names.",
    example: "The gateway serves as many requests as server.max_concurrent_requests allows; " +
      "try again in 1 s.",
  },
};
