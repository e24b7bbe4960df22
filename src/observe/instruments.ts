import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Upper bounds of histogram buckets in seconds: a response may take minutes. */
const DURATIONS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320];
const FIRST_TOKENS = [0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 12, 25, 60];
const OVERHEADS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Instruments that are updated from call reports. */
export type Instruments = ReturnType<typeof registerInstruments>;

/**
 * Registers the counters and histograms of calls, and the gauge of open WebSockets. The counters of
 * requests, tokens and cost also have these labels of client keys.
 */
export function registerInstruments(registry: Registry, keyLabels: readonly string[] = []) {
  const registers = [registry];

  function counter<Label extends string>(
    name: string,
    help: string,
    ...labelNames: readonly Label[]
  ): Counter<Label> {
    return new Counter({ name, help, labelNames, registers });
  }

  function counterByKey(name: string, help: string, ...labelNames: readonly string[]) {
    return counter(name, help, ...labelNames, ...keyLabels.map(keyLabelField));
  }

  function histogram<Label extends string>(
    name: string,
    help: string,
    buckets: number[],
    ...labelNames: readonly Label[]
  ): Histogram<Label> {
    return new Histogram({ name, help, buckets, labelNames, registers });
  }

  return {
    requests: newTally(counterByKey(
      "gateway_requests_total",
      "Requests that have ended.",
      "endpoint",
      "provider",
      "model",
      "route",
      "status",
    )),
    duration: histogram(
      "gateway_request_duration_seconds",
      "Time from a request to the last byte of its response.",
      DURATIONS,
      "endpoint",
      "provider",
      "model",
    ),
    firstToken: histogram(
      "gateway_time_to_first_token_seconds",
      "Time from a request to the first event of its stream.",
      FIRST_TOKENS,
      "provider",
      "model",
    ),
    overhead: histogram(
      "gateway_overhead_seconds",
      "Time until a response begins, without the time spent waiting for providers.",
      OVERHEADS,
      "endpoint",
    ),
    tokens: newTally(counterByKey(
      "gateway_tokens_total",
      "Tokens of requests, reported by providers or estimated; direction is input or output.",
      "provider",
      "model",
      "direction",
    )),
    cachedTokens: counter(
      "gateway_cached_tokens_total",
      "Input tokens in the prompt caches of providers; operation is read or write. Read tokens, divided by the " +
        "input of gateway_tokens_total, are the hit rate.",
      "provider",
      "model",
      "operation",
    ),
    cost: counterByKey(
      "gateway_cost_usd_total",
      "Estimated cost in USD of requests to models with a known price.",
      "provider",
      "model",
    ),
    costUnknown: counter(
      "gateway_cost_unknown_total",
      "Requests to models with a known price for which the provider reported nothing to bill.",
      "provider",
      "model",
    ),
    earlyHeads: counter(
      "gateway_early_heads_total",
      "Streams whose head was sent before a provider had responded (early_head); end is content, failed or client_gone.",
      "endpoint",
      "end",
    ),
    privacyMatches: counter(
      "gateway_privacy_matches_total",
      "Values that privacy rules have found; phase is request or response, action is refuse, mask, replace or monitor.",
      "rule",
      "phase",
      "action",
    ),
    privacyRestored: counter(
      "gateway_privacy_restored_total",
      "Tokens of answers that became the client's values again.",
    ),
    privacyUnknown: counter(
      "gateway_privacy_unknown_tokens_total",
      "Words of answers in the form of a token that belong to no value of their request.",
    ),
    privacyUnread: counter(
      "gateway_privacy_unread_total",
      "Parts of requests that no privacy rule can read: images, documents, audio, files and lists of tokens.",
    ),
    privacySearch: histogram(
      "gateway_privacy_scan_seconds",
      "Time for the search of a request by privacy rules.",
      OVERHEADS,
    ),
    lookups: counter(
      "gateway_cache_lookups_total",
      "Lookups in the response cache; result is hit or miss.",
      "result",
    ),
    attempts: newTally(counter(
      "gateway_upstream_attempts_total",
      "Attempts at providers; outcome is success or the kind of failure.",
      "provider",
      "outcome",
    )),
    connectionFailures: counter(
      "gateway_upstream_failures_total",
      "Failed connections to providers, and streams without content in time; cause is from a fixed list.",
      "provider",
      "cause",
    ),
    reconnects: counter(
      "gateway_upstream_reconnects_total",
      "Requests sent again on a new connection, because a reused one was closed.",
      "provider",
    ),
    retries: counter(
      "gateway_retries_total",
      "Retries: attempts that repeated an earlier one at the same target.",
      "provider",
    ),
    fallbacks: counter(
      "gateway_fallbacks_total",
      "Fallbacks: targets that failed and were followed by the next one of their route.",
      "route",
    ),
    streamFailures: counter(
      "gateway_stream_failures_total",
      "Streams that failed after delivery to the client had begun.",
      "provider",
    ),
    verified: counter(
      "gateway_verified_total",
      "Responses that were checked because the provider does not enforce a field; promise is the kind of field, result is kept or broken.",
      "promise",
      "result",
    ),
    authFailures: counter(
      "gateway_auth_failures_total",
      "Requests without a valid client key.",
    ),
    rateLimited: counter(
      "gateway_rate_limited_total",
      "Requests refused by a limit of the client; reason is requests, tokens, concurrency or budget.",
      "reason",
    ),
    clientSpend: counter(
      "gateway_client_spend_usd_total",
      "Cost in USD of the calls of a client key.",
      "client",
    ),
    clientTokens: counter(
      "gateway_client_tokens_total",
      "Tokens of the calls of a client key.",
      "client",
    ),
    previousKeys: counter(
      "gateway_client_previous_secrets_total",
      "Requests with a secret that the client key has replaced.",
      "client",
    ),
    tokensChecked: newTally(counter(
      "gateway_tokens_verified_total",
      "Tokens of issuers; result is valid, cached, expired, invalid, not_permitted or unavailable. " +
        "The issuer is empty if it is not known.",
      "issuer",
      "result",
    )),
    keyRefreshes: counter(
      "gateway_issuer_refreshes_total",
      "Refreshes of the keys of an issuer; result is success or failure.",
      "issuer",
      "result",
    ),
    estimated: counter(
      "gateway_usage_estimated_total",
      "Calls of client keys whose tokens were estimated because the provider reported none.",
      "provider",
    ),
    overloaded: counter(
      "gateway_overloaded_total",
      "Requests refused because a limit of the whole gateway was reached; reason is requests, body_memory, response_memory or heap.",
      "reason",
    ),
    storeFailures: counter(
      "gateway_state_failures_total",
      "Operations of the state store that failed; operation is from a fixed list.",
      "operation",
    ),
    stateFallbacks: counter(
      "gateway_state_fallbacks_total",
      "Operations of rate limits and budgets that this process counted itself because the state store was unavailable; operation is admit, settle or renew.",
      "operation",
    ),
    lostWrites: counter(
      "gateway_state_lost_writes_total",
      "Waiting writes to the state store that are lost; reason is full, expired, refused or shutdown.",
      "reason",
    ),
    reloads: counter(
      "gateway_config_reloads_total",
      "Reloads of the configuration; result is success or failure.",
      "result",
    ),
    credentialRefreshes: counter(
      "gateway_credential_refreshes_total",
      "Refreshes of the credential of a provider; result is success or failure.",
      "provider",
      "result",
    ),
    exportDropped: counter(
      "gateway_export_dropped_total",
      "Events for the dashboard that were dropped: the queue was full, or the dashboard did not accept them.",
    ),
    records: counter(
      "gateway_records_total",
      "Recorded calls; kind is all (with content) or heads.",
      "kind",
    ),
    recordsDropped: counter(
      "gateway_records_dropped_total",
      "Calls whose record was not written; reason is queue, disk, redaction, worker or shutdown.",
      "reason",
    ),
    recordSearches: counter(
      "gateway_record_searches_total",
      "Searches in records on the admin listener.",
    ),
    sockets: new Gauge({
      name: "gateway_websocket_connections",
      help: "Open WebSocket connections of clients.",
      registers,
    }),
  };
}

/** Returns the name of a client key's label as a field of log lines and a label of metrics. */
export function keyLabelField(label: string): string {
  return `key_${label}`;
}

/** Labels of a counter by name. */
type LabelValues = Readonly<Record<string, string>>;

/** Increments of a counter that are added up before the counter is increased. */
interface Tally {
  /** Adds to the sum of these labels. Their names must have the same order in each call. */
  inc(labels: LabelValues, value?: number): void;
  /** Increases the counter by all sums, which are then empty. */
  flush(): void;
}

/**
 * Returns a tally of a counter. The counter finds its value by its sorted labels, which costs
 * several times as much as the sum; requests mostly have the same labels.
 */
export function newTally(counter: Counter<string>): Tally {
  const sums = new Map<string, { readonly labels: LabelValues; value: number }>();

  return {
    inc(labels, value = 1) {
      let key = "";
      // A list of the values would cost as much as the counter does.
      for (const name in labels) key += `${labels[name]}\0`;
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, { labels, value });
      else sum.value += value;
    },
    flush() {
      for (const { labels, value } of sums.values()) counter.inc({ ...labels }, value);
      sums.clear();
    },
  };
}
