import { Counter, Gauge, Registry } from "prom-client";
import { registerInstruments } from "./instruments.ts";
import type { MetricValues } from "./metric_sum.ts";
import { registerProcessMetrics } from "./process_metrics.ts";

/** Metrics of the parent of workers, which serves no requests itself. */
export interface ParentMetrics {
  /** Counts a changed configuration that was applied or refused: once, not in each worker. */
  reloaded(result: "success" | "failure"): void;
  /** Counts a worker that ended and is started again. */
  restarted(): void;
  values(): Promise<MetricValues>;
}

/** Registers the metrics of workers; `listening` returns the number of those that accept requests. */
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

/** Returns metrics that start at zero; `keyLabels` are the labels of client keys, as in the workers. */
export function newParentMetrics(
  keyLabels: readonly string[],
  listening: () => number,
): ParentMetrics {
  const registry = new Registry();
  const { reloads } = registerInstruments(registry, keyLabels);
  registerProcessMetrics(registry);
  const { restarts } = registerWorkerMetrics(registry, listening);
  return {
    reloaded: (result) => reloads.inc({ result }),
    restarted: () => restarts.inc(),
    values: () => registry.getMetricsAsJSON(),
  };
}
