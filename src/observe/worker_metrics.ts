import process from "node:process";
import {
  AggregatorRegistry,
  Counter,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";
import { registerInstruments } from "./instruments.ts";

/**
 * Registers the metrics of workers; `listening` returns the number of those that accept requests.
 */
export function registerWorkerMetrics(registry: Registry, listening: () => number) {
  const registers = [registry];
  new Gauge({
    name: "gateway_workers",
    help: "Workers that accept requests; only with server.workers above 1.",
    registers,
    collect() {
      this.set(listening());
    },
  });
  const restarts = new Counter({
    name: "gateway_worker_restarts_total",
    help: "Workers that ended and were started again; only with server.workers above 1.",
    registers,
  });
  return { restarts };
}

/**
 * Returns the metrics of the parent of workers, which serves no requests itself. `keyLabels` are
 * the labels of client keys, as in the workers.
 */
export function newParentMetrics(
  keyLabels: readonly string[],
  listening: () => number,
) {
  const registry = new Registry();
  const { reloads, credentialRefreshes, keyRefreshes } = registerInstruments(registry, keyLabels);
  registerProcessMetrics(registry);
  const { restarts } = registerWorkerMetrics(registry, listening);
  return {
    /** Counts a changed configuration that was applied or refused: once, not in each worker. */
    reloaded: (result: "success" | "failure"): void => reloads.inc({ result }),
    /** Counts a refresh of a credential: the parent refreshes for all workers. */
    credentialRefreshed: (provider: string, result: "success" | "failure"): void =>
      credentialRefreshes.inc({ provider, result }),
    /** Counts a refresh of the keys of an issuer. */
    keysRefreshed: (issuer: string, result: "success" | "failure"): void =>
      keyRefreshes.inc({ issuer, result }),
    /** Counts a worker that ended and is started again. */
    restarted: (): void => restarts.inc(),
    values: (): Promise<MetricValues> => registry.getMetricsAsJSON(),
  };
}

const MICROSECONDS_PER_S = 1_000_000;

/** Registers the standard Prometheus metrics of a process: memory, CPU time and start time. */
export function registerProcessMetrics(registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time of this process, in seconds.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / MICROSECONDS_PER_S);
    },
  });
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory of this process, in bytes.",
    registers,
    collect() {
      this.set(Deno.memoryUsage().rss);
    },
  });
  new Gauge({
    name: "process_start_time_seconds",
    help: "Start time of this process, in seconds since 1970.",
    aggregator: "min",
    registers,
  }).set(performance.timeOrigin / 1000);
}

/** Values of the metrics of one process, as JSON can carry them. */
export type MetricValues = readonly MetricObjectWithValues<MetricValue<string>>[];

/**
 * Returns the metrics of several processes as one: counters and histograms are added, and each
 * gauge is combined as its `aggregator` says.
 */
export async function addMetrics(all: readonly MetricValues[]): Promise<MetricValues> {
  return await registryOf(all).getMetricsAsJSON();
}

/** Returns the text format of the metrics of several processes as one. */
export async function metricsText(all: readonly MetricValues[]): Promise<string> {
  return await registryOf(all).metrics();
}

/**
 * Returns what of the metrics of an ended process still counts: its counters and histograms, not
 * its gauges.
 */
export function lastingMetrics(metrics: MetricValues): MetricValues {
  // The types of the library name the kinds with an enumeration that does not exist when it runs.
  return metrics.filter(({ type }) => ["counter", "histogram"].includes(String(type)));
}

function registryOf(all: readonly MetricValues[]) {
  return AggregatorRegistry.aggregate(all.map((metrics) => [...metrics]));
}
