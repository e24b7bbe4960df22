import fc from "fast-check";
import { Registry } from "prom-client";
import { registerInstruments } from "../../src/observe/instruments.ts";
import { assert, assertEquals } from "../support/assert.ts";
import {
  addMetrics,
  lastingMetrics,
  metricsText,
  type MetricValues,
} from "../../src/observe/worker_metrics.ts";

/** One count of a metric, in one of the processes. */
const count = fc.record({
  process: fc.nat({ max: 2 }),
  provider: fc.constantFrom("openai", 'a"b', "c\\d", ""),
  amount: fc.nat({ max: 1_000 }),
  kind: fc.constantFrom("counter", "histogram", "gauge"),
});

type Count = typeof count extends fc.Arbitrary<infer Value> ? Value : never;

function counted(counts: readonly Count[]): Registry {
  const registry = new Registry();
  const to = registerInstruments(registry);
  for (const { kind, provider, amount } of counts) {
    if (kind === "counter") to.retries.inc({ provider }, amount);
    else if (kind === "gauge") to.sockets.inc(amount);
    else to.duration.observe({ endpoint: "/v1/x", provider, model: "m" }, amount / 4);
  }
  return registry;
}

/** As the channel between the processes carries them. */
async function sent(registry: Registry): Promise<MetricValues> {
  return JSON.parse(JSON.stringify(await registry.getMetricsAsJSON()));
}

function series(text: string): readonly string[] {
  return text.split("\n").filter(Boolean).toSorted();
}

Deno.test("the metrics of three processes together are the text of one process that counted all", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(count), async (counts) => {
      const processes = [0, 1, 2].map((at) =>
        counted(counts.filter(({ process }) => process === at))
      );
      const parts = await Promise.all(processes.map(sent));
      const whole = series(await counted(counts).metrics());
      assertEquals(series(await metricsText(parts)), whole);
      const [first = [], ...others] = parts;
      const added = await addMetrics([
        await addMetrics([first, ...others.slice(1)]),
        others[0] ?? [],
      ]);
      assertEquals(
        series(await metricsText([added])),
        whole,
        "the order of additions is of no matter",
      );
    }),
    { numRuns: 40 },
  );
});

Deno.test("what lasts of an ended process is all that must not decrease, and none of its gauges", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(count), async (counts) => {
      const lasting = await metricsText([lastingMetrics(await sent(counted(counts)))]);
      assert(!lasting.includes("gateway_websocket_connections"));
      const monotonic = series(await counted(counts).metrics())
        .filter((line) => !line.includes("gateway_websocket_connections"));
      assertEquals(series(lasting), monotonic);
    }),
    { numRuns: 20 },
  );
});
