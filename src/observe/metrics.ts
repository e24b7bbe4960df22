import type { PrivacyCounts } from "../core/privacy_counts.ts";
import { Registry } from "prom-client";
import { type Config, routeBodies } from "../config/schema.ts";
import type { ConnectionCause } from "../core/failure/connection_error.ts";
import {
  type Failure,
  isRefusal,
  isServerFailure,
  LIMIT_REASONS,
  REFUSALS,
  upstreamCause,
} from "../core/failure/failure.ts";
import {
  PROMISE_KINDS,
  PROMISE_RESULTS,
  type PromiseKind,
  type PromiseResult,
} from "../data/promise_kind.ts";
import { OVERLOAD_REASONS, type OverloadReason } from "../data/overload_reason.ts";
import { RECORD_DROPS, type RecordDrop } from "../data/record_drop.ts";
import {
  FALLBACK_OPERATIONS,
  type FallbackOperation,
  LOSS_REASONS,
  type LossReason,
  STATE_OPERATIONS,
  type StateOperation,
} from "../data/state_operation.ts";
import { type MetricSources, registerGauges } from "./gauges.ts";
import { type Instruments, keyLabelField, registerInstruments } from "./instruments.ts";
import { type TokenCheck, tokenLabels } from "./token_check.ts";
import { type CallReport, retriesOf, type Sink } from "./report.ts";
import { type MetricValues, registerProcessMetrics } from "./worker_metrics.ts";

/** Prometheus metrics of one gateway, in a separate registry. */
export interface Metrics {
  /** Counts a started call; its report must follow. */
  began(endpoint: string): void;
  readonly sink: Sink;
  /** Counts an opened or closed WebSocket. */
  sockets(change: 1 | -1): void;
  /** Counts a changed configuration that was applied or refused. */
  reloaded(result: "success" | "failure"): void;
  /** Counts a refresh of the credential of a provider. */
  credentialRefreshed(provider: string, result: "success" | "failure"): void;
  /** Counts a request that was sent again because its reused connection was closed. */
  reconnected(provider: string): void;
  /** Counts a failed connection of a request outside a call. */
  connectionFailed(provider: string, cause: ConnectionCause): void;
  /** Counts a request that was refused because a limit of the gateway was reached. */
  overloaded(reason: OverloadReason): void;
  /** Counts an operation of the state store that failed. */
  storeFailed(operation: StateOperation): void;
  /** Counts waiting writes to the state store that are lost. */
  writesLost(reason: LossReason, writes: number): void;
  /**
   * Counts an operation of quotas that the process has counted itself, because the store is
   * unavailable.
   */
  fellBack(operation: FallbackOperation): void;
  /** Counts a response that was checked for a kind of promise. */
  verified(promise: PromiseKind, result: PromiseResult): void;
  /** Counts a token by its issuer and the result of its check. */
  tokenChecked(checked: TokenCheck): void;
  /** Counts a refresh of the keys of an issuer. */
  keysRefreshed(issuer: string, result: "success" | "failure"): void;
  /** Counts dropped events for the dashboard. */
  exportDropped(events: number): void;
  /** Counts written records of calls. */
  recorded(kind: "heads" | "all", records: number): void;
  /** Counts records of calls that were not written. */
  recordsDropped(reason: RecordDrop, records: number): void;
  /** Counts a search in records. */
  recordsSearched(): void;
  /** Returns all metrics in the Prometheus text format. */
  scrape(): Promise<string>;
  /** Returns the metrics of this process, to be added to those of other processes. */
  values(): Promise<MetricValues>;
}

/**
 * Maximum number of queued reports. Counting is slow, so it is done in batches off the request
 * path.
 */
const MAX_QUEUED_REPORTS = 64;

/**
 * Returns metrics that start at zero. Label values come only from the configuration and the code.
 */
export function newMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const instruments = registerInstruments(registry, sources.keyLabels);
  const keyLabelsOf = newKeyLabels(sources.keyLabels);
  const label = modelLabels(sources);
  const active = new Map<string, number>();
  let waiting: (readonly [Counted, Labels])[] = [];
  let dropped = 0;
  registerGauges(registry, sources, active);
  registerProcessMetrics(registry);
  for (const result of ["success", "failure"]) instruments.reloads.inc({ result }, 0);
  for (const promise of PROMISE_KINDS) {
    for (const result of PROMISE_RESULTS) instruments.verified.inc({ promise, result }, 0);
  }
  for (const reason of LIMIT_REASONS) instruments.rateLimited.inc({ reason }, 0);
  for (const reason of OVERLOAD_REASONS) instruments.overloaded.inc({ reason }, 0);
  for (const operation of STATE_OPERATIONS) instruments.storeFailures.inc({ operation }, 0);
  for (const operation of FALLBACK_OPERATIONS) instruments.stateFallbacks.inc({ operation }, 0);
  for (const reason of RECORD_DROPS) instruments.recordsDropped.inc({ reason }, 0);
  for (const reason of LOSS_REASONS) instruments.lostWrites.inc({ reason }, 0);

  function add(endpoint: string, change: 1 | -1) {
    active.set(endpoint, (active.get(endpoint) ?? 0) + change);
  }

  function countAll() {
    const counted = waiting;
    waiting = [];
    for (const [report, labels] of counted) count(instruments, report, labels);
    const { requests, tokens, attempts, tokensChecked } = instruments;
    for (const tally of [requests, tokens, attempts, tokensChecked]) tally.flush();
    instruments.exportDropped.inc(dropped);
    dropped = 0;
  }

  return {
    began: (endpoint) => add(endpoint, 1),
    sink(report) {
      add(report.endpoint.path, -1);
      const labels = {
        provider: report.provider ?? "",
        model: label(report.model),
        byKey: keyLabelsOf(report.measured === null ? report.keyLabels : report.measured.labels),
      };
      waiting.push([collectFacts(report), labels]);
      if (waiting.length >= MAX_QUEUED_REPORTS) countAll();
    },
    reloaded: (result) => instruments.reloads.inc({ result }),
    credentialRefreshed: (provider, result) =>
      instruments.credentialRefreshes.inc({ provider, result }),
    reconnected: (provider) => instruments.reconnects.inc({ provider }),
    connectionFailed: (provider, cause) => instruments.connectionFailures.inc({ provider, cause }),
    overloaded: (reason) => instruments.overloaded.inc({ reason }),
    storeFailed: (operation) => instruments.storeFailures.inc({ operation }),
    writesLost: (reason, writes) => instruments.lostWrites.inc({ reason }, writes),
    fellBack: (operation) => instruments.stateFallbacks.inc({ operation }),
    verified: (promise, result) => instruments.verified.inc({ promise, result }),
    tokenChecked: (checked) => instruments.tokensChecked.inc(tokenLabels(checked)),
    keysRefreshed: (issuer, result) => instruments.keyRefreshes.inc({ issuer, result }),
    sockets: (change) => instruments.sockets.inc(change),
    recorded: (kind, records) => instruments.records.inc({ kind }, records),
    recordsDropped: (reason, records) => instruments.recordsDropped.inc({ reason }, records),
    recordsSearched: () => instruments.recordSearches.inc(),
    exportDropped(events) {
      dropped += events;
    },
    scrape() {
      countAll();
      return registry.metrics();
    },
    values() {
      countAll();
      return registry.getMetricsAsJSON();
    },
  };
}

/**
 * Returns the fields of a report that are counted: the queue retains no others. Measured: a loop
 * over their names takes twenty times as long.
 */
function collectFacts(report: Readonly<CallReport>) {
  return {
    endpoint: report.endpoint,
    ms: report.ms,
    failure: withoutUpstream(report.failure),
    route: report.route,
    status: report.status,
    cache: report.cache,
    attempts: report.attempts,
    fallbacks: report.fallbacks,
    brokeOff: report.brokeOff,
    usage: report.usage,
    cost: report.cost,
    isCostUnknown: report.isCostUnknown,
    client: report.measured?.client ?? report.client,
    keySecret: report.keySecret,
    charge: report.charge,
    estimated: report.estimated,
    privacy: report.privacy,
  };
}

/** Returns a failure without the error of its provider, of which each may have megabytes. */
function withoutUpstream(failure: Failure | null): Failure | null {
  const isSmall = failure === null || isRefusal(failure) || failure.upstream === null;
  return isSmall ? failure : { ...failure, upstream: null };
}

type Counted = ReturnType<typeof collectFacts>;

interface Labels {
  readonly provider: string;
  readonly model: string;
  /** Labels of the client key; empty text for those that the key does not have. */
  readonly byKey: Readonly<Record<string, string>>;
}

/** No labels; shared, because most configurations have none. */
const NO_LABELS: Labels["byKey"] = {};

function newKeyLabels(names: readonly string[]) {
  const fields = names.map(keyLabelField);
  return (reported: CallReport["keyLabels"]): Labels["byKey"] =>
    fields.length === 0
      ? NO_LABELS
      : Object.fromEntries(fields.map((field) => [field, reported?.[field] ?? ""]));
}

function count(to: Instruments, report: Counted, allLabels: Labels): void {
  const { endpoint: { path: endpoint }, ms, failure } = report;
  const { provider, model, byKey } = allLabels;
  const labels = { provider, model };
  const route = report.route ?? "";
  to.requests.inc({ endpoint, ...labels, route, status: String(report.status), ...byKey });
  to.duration.observe({ endpoint, ...labels }, ms.total / 1000);
  if (ms.firstToken !== null) to.firstToken.observe({ ...labels }, ms.firstToken / 1000);
  if (ms.firstByte !== null) {
    to.overhead.observe({ endpoint }, Math.max(0, ms.firstByte - ms.upstream) / 1000);
  }
  if (ms.earlyHead !== null) to.earlyHeads.inc({ endpoint, end: earlyEnd(report) });
  if (report.cache !== null) to.lookups.inc({ result: report.cache.toLowerCase() });
  for (const { provider, outcome, cause } of report.attempts) {
    to.attempts.inc({ provider, outcome });
    if (cause !== null) to.connectionFailures.inc({ provider, cause });
  }
  for (const { provider } of retriesOf(report.attempts)) to.retries.inc({ provider });
  if (report.fallbacks > 0) to.fallbacks.inc({ route }, report.fallbacks);
  const cause = report.brokeOff ? upstreamCause(failure) : null;
  if (cause !== null) to.connectionFailures.inc({ provider, cause });
  // A stream is not counted as a provider failure if its client disconnected, if the gateway shut
  // down, or if the gateway refused to store the response.
  const isFailed = failure === null || isServerFailure(failure);
  if (report.brokeOff && isFailed) to.streamFailures.inc({ provider });
  if (report.client !== null && report.keySecret !== null) {
    to.previousKeys.inc({ client: report.client });
  }
  countUse(to, report, allLabels);
  countCharge(to, report, provider);
  countRefusal(to, failure);
  if (report.privacy !== null) countPrivacy(to, report.privacy);
}

function countPrivacy(
  to: Instruments,
  { matches, restored, unknown, unread, searchMs }: PrivacyCounts,
): void {
  for (const { rule, phase, action, count } of matches) {
    to.privacyMatches.inc({ rule, phase, action }, count);
  }
  if (restored > 0) to.privacyRestored.inc(restored);
  if (unknown > 0) to.privacyUnknown.inc(unknown);
  if (unread > 0) to.privacyUnread.inc(unread);
  to.privacySearch.observe(searchMs / 1_000);
}

/** Returns what followed an early head: content, or why there was none. */
function earlyEnd({ ms, failure }: Counted): "content" | "failed" | "client_gone" {
  if (ms.firstToken !== null) return "content";
  return failure?.kind === "client_cancelled" ? "client_gone" : "failed";
}

function countUse(
  to: Instruments,
  { usage, cost, isCostUnknown }: Counted,
  allLabels: Labels,
): void {
  const { provider, model, byKey } = allLabels;
  const labels = { provider, model };
  if (isCostUnknown) to.costUnknown.inc(labels);
  if (cost !== null) to.cost.inc({ ...labels, ...byKey }, positive(cost));
  if (usage === null) return;
  to.tokens.inc({ ...labels, direction: "input", ...byKey }, positive(usage.input));
  to.tokens.inc({ ...labels, direction: "output", ...byKey }, positive(usage.output));
  const [read, write] = [positive(usage.cached), positive(usage.cacheWrite)];
  if (read > 0) to.cachedTokens.inc({ ...labels, operation: "read" }, read);
  if (write > 0) to.cachedTokens.inc({ ...labels, operation: "write" }, write);
}

/** Counts the use of a client key, whose name comes from the configuration. */
function countCharge(
  to: Instruments,
  { client, charge, estimated }: Counted,
  provider: string,
): void {
  if (estimated) to.estimated.inc({ provider });
  if (client === null || charge === null) return;
  if (charge.nanoUsd > 0) to.clientSpend.inc({ client }, charge.nanoUsd / 1e9);
  if (charge.tokens > 0) to.clientTokens.inc({ client }, charge.tokens);
}

/**
 * Returns a finite figure of at least 0: figures of providers are untrusted, and counters throw if
 * decreased.
 */
function positive(figure: number): number {
  return Number.isFinite(figure) ? Math.max(0, figure) : 0;
}

function countRefusal(to: Instruments, failure: CallReport["failure"]): void {
  if (failure === null || !isRefusal(failure)) return;
  const { countedAs } = REFUSALS[failure.kind];
  if (countedAs === undefined) return;
  if (countedAs === "auth_failure") to.authFailures.inc();
  else to.rateLimited.inc({ reason: countedAs });
}

/** Label of models that only clients name: one label for all bounds the registry. */
const OTHER_MODELS = "_dynamic";

function modelLabels({ config }: MetricSources): (model: string | null) => string {
  let latest: Config | null = null;
  let models: ReadonlySet<string | undefined> = new Set();
  return (model) => {
    if (model === null) return "";
    const current = config();
    if (current !== latest) models = configuredModels(current);
    latest = current;
    return models.has(model) ? model : OTHER_MODELS;
  };
}

function configuredModels(config: Config): ReadonlySet<string | undefined> {
  const targets = routeBodies(config).flatMap((route) => [...route.targets, ...route.fallback]);
  return new Set([
    ...targets.map(({ model }) => model),
    ...Object.values(config.providers).map(({ default_model }) => default_model),
  ]);
}
