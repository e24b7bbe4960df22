import { Gauge, Registry } from "prom-client";
import type { Config } from "../config/schema.ts";
import { VERSION } from "../core/version.ts";
import { type Instruments, registerInstruments } from "./instruments.ts";
import { registerProcessMetrics } from "./process_metrics.ts";
import { type CallReport, retriesOf, type Sink } from "./report.ts";

/** What a breaker can be, as a number that rises with the trouble. */
const BREAKER_VALUES = { closed: 0, "half-open": 1, open: 2 } as const;

/** Where the figures come from that are read when somebody asks. */
export interface MetricSources {
  /** The configuration of this moment: it says which models have a label of their own. */
  config(): Config;
  breakers(): Iterable<readonly [provider: string, state: keyof typeof BREAKER_VALUES]>;
  cache(): Size;
  /** The stores of stateful objects, by name. */
  stores(): Readonly<Record<string, Size>>;
}

/** What a store holds. */
interface Size {
  readonly entries: number;
  readonly bytes: number;
}

/** The gateway's metrics for Prometheus, in a registry of their own. */
export interface Metrics {
  /** A call has begun; its report must follow. */
  began(endpoint: string): void;
  readonly sink: Sink;
  /** A socket has been opened, or one has been closed. */
  sockets(change: 1 | -1): void;
  /** A changed configuration was taken or refused. */
  reloaded(isTaken: boolean): void;
  /** So many events for the dashboard were given up. */
  exportDropped(events: number): void;
  /** Everything in the Prometheus text format. */
  scrape(): Promise<string>;
}

/** Metrics that begin at zero. Labels hold only what the configuration and the code name. */
export function newMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const instruments = registerInstruments(registry);
  const label = modelLabels(sources);
  registerGauges(registry, sources);
  registerProcessMetrics(registry);
  for (const result of ["success", "failure"]) instruments.reloads.inc({ result }, 0);

  return {
    began: (endpoint) => instruments.active.inc({ endpoint }),
    sink(report) {
      const provider = report.provider ?? "";
      count(instruments, report, { provider, model: label(report.model) });
    },
    reloaded: (isTaken) => instruments.reloads.inc({ result: isTaken ? "success" : "failure" }),
    sockets: (change) => instruments.sockets.inc(change),
    exportDropped: (events) => instruments.exportDropped.inc(events),
    scrape: () => registry.metrics(),
  };
}

interface Labels {
  readonly provider: string;
  readonly model: string;
}

function count(to: Instruments, report: Readonly<CallReport>, labels: Labels): void {
  const { endpoint, ms, failure } = report;
  const { provider } = labels;
  const route = report.route ?? "";
  to.active.dec({ endpoint });
  to.requests.inc({ endpoint, ...labels, route, status: String(report.status) });
  to.duration.observe({ endpoint, ...labels }, ms.total / 1000);
  if (ms.firstToken !== null) to.firstToken.observe({ ...labels }, ms.firstToken / 1000);
  if (ms.firstByte !== null) {
    to.overhead.observe({ endpoint }, Math.max(0, ms.firstByte - ms.upstream) / 1000);
  }
  if (report.cache !== null) to.lookups.inc({ result: report.cache.toLowerCase() });
  for (const { provider, outcome } of report.tries) to.attempts.inc({ provider, outcome });
  for (const { provider } of retriesOf(report.tries)) to.retries.inc({ provider });
  if (report.fallbacks > 0) to.fallbacks.inc({ route }, report.fallbacks);
  if (report.brokeOff && !isNoFaultOfProvider(failure)) to.streamFailures.inc({ provider });
  countUse(to, report, labels);
  countRefusal(to, failure?.kind ?? "");
}

/** A stream that its client leaves, or that the end of the gateway cuts off, is no fault of a provider. */
function isNoFaultOfProvider(failure: CallReport["failure"]): boolean {
  return failure?.kind === "client_cancelled" || failure?.kind === "draining";
}

function countUse(to: Instruments, { usage, cost }: Readonly<CallReport>, labels: Labels): void {
  if (cost !== null) to.cost.inc({ ...labels }, positive(cost));
  if (usage === null) return;
  to.tokens.inc({ ...labels, direction: "input" }, positive(usage.input));
  to.tokens.inc({ ...labels, direction: "output" }, positive(usage.output));
  const [read, write] = [positive(usage.cached), positive(usage.cacheWrite)];
  if (read > 0) to.cachedTokens.inc({ ...labels, operation: "read" }, read);
  if (write > 0) to.cachedTokens.inc({ ...labels, operation: "write" }, write);
}

/** A counter throws when it is to go down, and what a provider counts is not ours to trust. */
function positive(figure: number): number {
  return Number.isFinite(figure) ? Math.max(0, figure) : 0;
}

function countRefusal(to: Instruments, kind: string): void {
  if (kind === "missing_api_key" || kind === "invalid_api_key") to.authFailures.inc();
  if (kind === "rate_limit_exceeded") to.rateLimited.inc();
}

/** Models that only a client names share one label, so that nobody can fill the registry. */
const OTHER_MODELS = "_dynamic";

function modelLabels({ config }: MetricSources): (model: string | null) => string {
  let latest: Config | null = null;
  let models: ReadonlySet<string | undefined> = new Set();
  return (model) => {
    if (model === null) return "";
    const current = config();
    if (current !== latest) models = modelsOf(current);
    latest = current;
    return models.has(model) ? model : OTHER_MODELS;
  };
}

function modelsOf({ providers, routing }: Config): ReadonlySet<string | undefined> {
  const targets = routing.routes.flatMap((route) => [...route.targets, ...route.fallback]);
  return new Set([
    ...targets.map(({ model }) => model),
    ...Object.values(providers).map(({ default_model }) => default_model),
  ]);
}

function registerGauges(registry: Registry, sources: MetricSources): void {
  const registers = [registry];
  new Gauge({
    name: "gateway_cache_bytes",
    help: "Bytes of the answers in the gateway's own cache.",
    registers,
    collect() {
      this.set(sources.cache().bytes);
    },
  });
  new Gauge({
    name: "gateway_cache_entries",
    help: "Answers in the gateway's own cache.",
    registers,
    collect() {
      this.set(sources.cache().entries);
    },
  });
  registerStores(registry, sources);
  new Gauge({
    name: "gateway_circuit_breaker_state",
    help: "Of each provider: 0 closed, 1 half-open, 2 open.",
    labelNames: ["provider"],
    registers,
    collect() {
      this.reset();
      for (const [provider, state] of sources.breakers()) {
        this.set({ provider }, BREAKER_VALUES[state]);
      }
    },
  });
  new Gauge({
    name: "gateway_build_info",
    help: "Always 1; the label says which version runs.",
    labelNames: ["version"],
    registers,
  }).set({ version: VERSION }, 1);
}

function registerStores(registry: Registry, { stores }: MetricSources): void {
  const registers = [registry];
  new Gauge({
    name: "gateway_state_entries",
    help: "Stateful objects that the gateway keeps.",
    labelNames: ["store"],
    registers,
    collect() {
      for (const [store, { entries }] of Object.entries(stores())) this.set({ store }, entries);
    },
  });
  new Gauge({
    name: "gateway_state_bytes",
    help: "Bytes of the stateful objects that the gateway keeps.",
    labelNames: ["store"],
    registers,
    collect() {
      for (const [store, { bytes }] of Object.entries(stores())) this.set({ store }, bytes);
    },
  });
}
