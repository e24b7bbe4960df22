import type { MetricSources } from "../../src/observe/gauges.ts";
import { newMetrics } from "../../src/observe/metrics.ts";
import { metricsText, newParentMetrics } from "../../src/observe/worker_metrics.ts";
import { configOf, withSection } from "../config/parse.ts";

const SAMPLE = /^([a-z_]+(?:\{.*\})?) (\S+)$/;

/** The samples of a Prometheus text, by name and labels as they are written. */
export function samplesOf(text: string): ReadonlyMap<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, name, value] = SAMPLE.exec(line) ?? [];
    if (name !== undefined) samples.set(name, Number(value));
  }
  return samples;
}

/** The samples of one metric: labels as they are written, and the value. */
export function samplesNamed(text: string, name: string): Readonly<Record<string, number>> {
  const found = [...samplesOf(text)].filter(([key]) => key.replace(/\{.*/, "") === name);
  return Object.fromEntries(found.map(([key, value]) => [key.slice(name.length), value]));
}

/** The names of the metrics that a Prometheus text declares. */
function declaredIn(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => name);
}

/** Returns the sources of metrics of a gateway with nothing to measure besides what is given. */
export function metricSources(sources: Partial<MetricSources> = {}): MetricSources {
  const config = configOf(withSection());
  return {
    config: () => config,
    keyLabels: [],
    breakers: () => [],
    slots: () => [],
    issuerKeys: () => [],
    restingKeys: () => [],
    credentials: () => [],
    cache: () => ({ entries: 0, bytes: 0 }),
    stores: () => ({}),
    bodyBytes: () => 0,
    responseBytes: () => 0,
    isStateUp: () => true,
    records: () => null,
    pendingWrites: () => 0,
    ...sources,
  };
}

/** Returns the names of all metrics: those of a process, and those of the parent of workers. */
export async function declaredMetrics(): Promise<ReadonlySet<string>> {
  const parent = await metricsText([await newParentMetrics([], () => 0).values()]);
  return new Set([
    ...declaredIn(await newMetrics(metricSources()).scrape()),
    ...declaredIn(parent),
  ]);
}
