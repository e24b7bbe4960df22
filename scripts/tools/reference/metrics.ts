import { Registry } from "prom-client";
import { type MetricSources, registerGauges } from "../../../src/observe/gauges.ts";
import { registerInstruments } from "../../../src/observe/instruments.ts";
import {
  registerProcessMetrics,
  registerWorkerMetrics,
} from "../../../src/observe/worker_metrics.ts";
import { generatedNote, tableText } from "./markdown.ts";

/** Sources of a registry that is never scraped. */
const NO_SOURCES: MetricSources = {
  config: () => {
    throw new Error("the reference of metrics has no configuration");
  },
  keyLabels: [],
  breakers: () => [],
  slots: () => [],
  credentials: () => [],
  restingKeys: () => [],
  issuerKeys: () => [],
  cache: () => ({ entries: 0, bytes: 0 }),
  stores: () => ({}),
  isStateUp: () => true,
  records: () => null,
  pendingWrites: () => 0,
  bodyBytes: () => 0,
  responseBytes: () => 0,
};

/** Returns the page `docs/reference/metrics.md`. */
export function metricsPage(): string {
  const registry = new Registry();
  registerInstruments(registry);
  registerGauges(registry, NO_SOURCES, new Map());
  registerProcessMetrics(registry);
  registerWorkerMetrics(registry, () => 0);
  const rows = registry.getMetricsAsArray().map((metric) => [
    `\`${metric.name}\``,
    String(metric.type),
    labelsOf(metric).map((label) => `\`${label}\``).join(", "),
    metric.help,
  ]);
  return `# Metrics

${generatedNote("the registered metrics, `src/observe/instruments.ts` and `src/observe/gauges.ts`")}

\`GET /metrics\` serves these metrics in the Prometheus text format. [Monitoring](../operate/monitoring.md)
says who may scrape them; with [several workers](../operate/workers.md#metrics) they are those of all workers together. A histogram has the series \`_bucket\`, \`_sum\` and \`_count\`.

${tableText(["metric", "type", "labels", "meaning"], rows)}

## Labels

- \`endpoint\`: path of the endpoint; empty for every other path.
- \`provider\`: ID of the provider. It is empty if the request was refused before a provider was chosen.
- \`model\`: a model that the configuration names; every other model is \`_dynamic\`.
- \`route\`: name of the route; empty if none was chosen.
- \`status\`: HTTP status of the response.
- \`outcome\`: \`success\` or a failure of the [errors page](errors.md).
- \`cause\`: cause of the [failed connection](../operate/monitoring.md#failed-connections).
`;
}

function labelsOf(metric: object): readonly string[] {
  if (!("labelNames" in metric) || !Array.isArray(metric.labelNames)) return [];
  return metric.labelNames.map(String);
}
