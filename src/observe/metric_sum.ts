import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from "prom-client";

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

/** Returns what of the metrics of an ended process still counts: its counters and histograms, not its gauges. */
export function lastingMetrics(metrics: MetricValues): MetricValues {
  // The types of the library name the kinds with an enumeration that does not exist when it runs.
  return metrics.filter(({ type }) => ["counter", "histogram"].includes(String(type)));
}

function registryOf(all: readonly MetricValues[]) {
  return AggregatorRegistry.aggregate(all.map((metrics) => [...metrics]));
}
