import { Gauge, type Registry } from "prom-client";
import type { Config } from "../config/schema.ts";
import { VERSION } from "../core/build.ts";

// With several workers each gauge is added up, unless its aggregator says what it means together.

/** Metric value of each circuit breaker state. */
const BREAKER_VALUES = { closed: 0, "half-open": 1, open: 2 } as const;

/** Sources of the metrics that are read at scrape time. */
export interface MetricSources {
  /** Returns the current configuration; only its models have their own label value. */
  config(): Config;
  /** Labels of client keys that the counters of requests, tokens and cost have. */
  readonly keyLabels: readonly string[];
  breakers(): Iterable<readonly [provider: string, state: keyof typeof BREAKER_VALUES]>;
  /** Returns running attempts and queued calls of each provider with `max_concurrent`. */
  slots(): Iterable<
    readonly [provider: string, counts: { readonly running: number; readonly queued: number }]
  >;
  /** Returns the number of resting keys of each provider with several keys. */
  restingKeys(): Iterable<readonly [provider: string, keys: number]>;
  /** Returns the seconds until the end of each credential that is refreshed, by provider. */
  credentials(): Iterable<readonly [provider: string, leftS: number]>;
  /** Returns the keys of each issuer of tokens that has some, and their age in milliseconds. */
  issuerKeys(): Iterable<
    readonly [issuer: string, keys: { readonly keys: number; readonly ageMs: number }]
  >;
  cache(): Size;
  /** Returns the size of each store of stateful objects, by name. */
  stores(): Readonly<Record<string, Size>>;
  /** True unless the state store is known to be unavailable. */
  isStateUp(): boolean;
  /** Returns the size of the file of recorded calls; null if none are recorded. */
  records(): RecordSizes | null;
  /** Returns the number of writes that wait for the state store. */
  pendingWrites(): number;
  /** Returns the bytes of request bodies of running calls. */
  bodyBytes(): number;
  /** Returns the bytes of whole responses that clients have not taken yet. */
  responseBytes(): number;
}

/** Sizes of the file of recorded calls, and of what waits for it. */
export interface RecordSizes {
  /** False if recording has ended for the rest of the process. */
  readonly isOn: boolean;
  readonly bytes: number;
  /** Age of the oldest record in milliseconds; 0 without any. */
  readonly oldestMs: number;
  readonly queueChars: number;
  /** Records that were not written since the start. */
  readonly dropped: number;
}

/** Size of a store. */
interface Size {
  readonly entries: number;
  readonly bytes: number;
}

function registerActive(registry: Registry, active: ReadonlyMap<string, number>): void {
  new Gauge({
    name: "gateway_active_requests",
    help: "Requests in flight.",
    labelNames: ["endpoint"],
    registers: [registry],
    collect() {
      for (const [endpoint, count] of active) this.set({ endpoint }, count);
    },
  });
}

/**
 * Registers the gauges that are read at scrape time; `active` is the number of running calls by
 * endpoint.
 */
export function registerGauges(
  registry: Registry,
  sources: MetricSources,
  active: ReadonlyMap<string, number>,
): void {
  const registers = [registry];
  registerActive(registry, active);
  new Gauge({
    name: "gateway_cache_bytes",
    help: "Bytes of the responses in the response cache.",
    registers,
    collect() {
      this.set(sources.cache().bytes);
    },
  });
  new Gauge({
    name: "gateway_cache_entries",
    help: "Responses in the response cache.",
    registers,
    collect() {
      this.set(sources.cache().entries);
    },
  });
  registerStores(registry, sources);
  registerSlots(registry, sources);
  registerRestingKeys(registry, sources);
  registerCredentials(registry, sources);
  registerIssuers(registry, sources);
  registerRecords(registry, sources);
  new Gauge({
    name: "gateway_request_body_bytes",
    help:
      "Bytes of the bodies of requests in flight, and of unfinished messages and dialogues of WebSockets.",
    registers,
    collect() {
      this.set(sources.bodyBytes());
    },
  });
  new Gauge({
    name: "gateway_response_body_bytes",
    help: "Bytes of responses that are read, translated, or not taken by their clients yet.",
    registers,
    collect() {
      this.set(sources.responseBytes());
    },
  });
  new Gauge({
    name: "gateway_circuit_breaker_state",
    help: "State of the circuit breaker: 0 closed, 1 half-open, 2 open.",
    aggregator: "max",
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
    help: "Always 1; the label is the version of the gateway.",
    aggregator: "max",
    labelNames: ["version"],
    registers,
  }).set({ version: VERSION }, 1);
}

function registerSlots(registry: Registry, { slots }: MetricSources): void {
  const registers = [registry];
  const labelNames = ["provider"];
  new Gauge({
    name: "gateway_provider_running",
    help: "Attempts in flight at each provider with max_concurrent.",
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const [provider, { running }] of slots()) this.set({ provider }, running);
    },
  });
  new Gauge({
    name: "gateway_provider_queued",
    help: "Requests that wait for a free slot of each provider with max_concurrent.",
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const [provider, { queued }] of slots()) this.set({ provider }, queued);
    },
  });
}

function registerRestingKeys(registry: Registry, { restingKeys }: MetricSources): void {
  new Gauge({
    name: "gateway_provider_keys_resting",
    help: "Keys that rest after a refusal, of each provider with several api_keys.",
    aggregator: "max",
    labelNames: ["provider"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [provider, keys] of restingKeys()) this.set({ provider }, keys);
    },
  });
}

function registerCredentials(registry: Registry, { credentials }: MetricSources): void {
  new Gauge({
    name: "gateway_credential_expires_seconds",
    help:
      "Seconds until the credential of a provider ends, 0 if it has none; only with providers.*.credential.",
    aggregator: "min",
    labelNames: ["provider"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [provider, leftS] of credentials()) this.set({ provider }, leftS);
    },
  });
}

function registerIssuers(registry: Registry, { issuerKeys }: MetricSources): void {
  new Gauge({
    name: "gateway_issuer_keys",
    help: "Usable keys of each issuer of tokens.",
    aggregator: "max",
    labelNames: ["issuer"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [issuer, { keys }] of issuerKeys()) this.set({ issuer }, keys);
    },
  });
  new Gauge({
    name: "gateway_issuer_keys_age_seconds",
    help: "Time since the keys of each issuer of tokens were refreshed.",
    aggregator: "max",
    labelNames: ["issuer"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [issuer, { ageMs }] of issuerKeys()) this.set({ issuer }, ageMs / 1000);
    },
  });
}

function registerRecords(registry: Registry, { records }: MetricSources): void {
  const gauges: readonly (readonly [string, string, (sizes: RecordSizes) => number])[] = [
    [
      "gateway_recording",
      "1 while calls are recorded, 0 if recording is off or has ended.",
      ({ isOn }) => isOn ? 1 : 0,
    ],
    [
      "gateway_record_bytes",
      "Bytes of recorded calls in their file, without room that is free again.",
      ({ bytes }) => bytes,
    ],
    [
      "gateway_record_oldest_seconds",
      "Age of the oldest recorded call.",
      ({ oldestMs }) => oldestMs / 1000,
    ],
    [
      "gateway_record_queue_bytes",
      "Characters of records that wait to be written, those of running calls included.",
      ({ queueChars }) => queueChars,
    ],
  ];
  for (const [name, help, valueOf] of gauges) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const sizes = records();
        this.set(sizes === null ? 0 : valueOf(sizes));
      },
    });
  }
}

function registerStores(
  registry: Registry,
  { stores, isStateUp, pendingWrites }: MetricSources,
): void {
  const registers = [registry];
  new Gauge({
    name: "gateway_state_up",
    help:
      "1 while the state store is available, else 0; always 1 for a store in memory and for none.",
    aggregator: "min",
    registers,
    collect() {
      this.set(isStateUp() ? 1 : 0);
    },
  });
  new Gauge({
    name: "gateway_state_pending_writes",
    help: "Writes that wait in this process because the state store was unavailable.",
    registers,
    collect() {
      this.set(pendingWrites());
    },
  });
  new Gauge({
    name: "gateway_state_entries",
    help: "Stored objects: responses, conversations, reasoning of tool loops and owners of IDs.",
    // Workers share one store: each counts the same objects, when it has last written.
    aggregator: "max",
    labelNames: ["store"],
    registers,
    collect() {
      for (const [store, { entries }] of Object.entries(stores())) this.set({ store }, entries);
    },
  });
  new Gauge({
    name: "gateway_state_bytes",
    help: "Bytes of the stored objects.",
    aggregator: "max",
    labelNames: ["store"],
    registers,
    collect() {
      for (const [store, { bytes }] of Object.entries(stores())) this.set({ store }, bytes);
    },
  });
}
