import { Registry } from "prom-client";
import { registerGauges } from "../../src/observe/gauges.ts";
import { newGateway } from "../../src/gateway/gateway.ts";
import { compile } from "../../src/gateway/compile.ts";
import {
  metricsText,
  newParentMetrics,
  registerWorkerMetrics,
} from "../../src/observe/worker_metrics.ts";
import { configOf, withSection } from "../config/parse.ts";
import { assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";
import { metricSources } from "./exposition.ts";

function values(text: string): ReadonlyMap<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => {
    const at = line.lastIndexOf(" ");
    return [line.slice(0, at), Number(line.slice(at + 1))];
  }));
}

Deno.test("reloads are counted by the parent once, and gauges of two workers are added unless they mean something else", async () => {
  const parent = newParentMetrics([], () => 2);
  parent.reloaded("success");
  parent.restarted();
  const workers = [1, 2].map(() =>
    newGateway(compile(configOf(withSection()), 1), scriptedWorld(), [])
  );
  for (const { metrics } of workers) {
    metrics.began("/v1/x");
    metrics.sockets(1);
  }
  const all = await Promise.all(
    [parent, ...workers.map(({ metrics }) => metrics)].map((one) => one.values()),
  );
  const sum = values(await metricsText(all));
  assertEquals(
    [
      'gateway_config_reloads_total{result="success"}',
      "gateway_worker_restarts_total",
      "gateway_workers",
      'gateway_active_requests{endpoint="/v1/x"}',
      "gateway_websocket_connections",
      "gateway_state_up",
      'gateway_build_info{version="0.1.0"}',
      'gateway_circuit_breaker_state{provider="openai"}',
    ].map((name) => sum.get(name)),
    [1, 1, 2, 2, 2, 1, 1, 0],
  );
});

Deno.test("of two workers the highest state of breakers, resting keys and stored objects counts, and the lowest of the store's availability", async () => {
  const workers = [7, 5].map((entries) => {
    const registry = new Registry();
    const sources = metricSources({
      breakers: () => [["openai", entries === 7 ? "open" : "closed"]],
      restingKeys: () => [["openai", entries]],
      stores: () => ({ responses: { entries, bytes: 100 * entries } }),
      isStateUp: () => entries === 7,
      pendingWrites: () => entries,
    });
    registerGauges(registry, sources, new Map());
    return registry.getMetricsAsJSON();
  });
  const sum = values(await metricsText(await Promise.all(workers)));
  assertEquals(sum.get('gateway_state_entries{store="responses"}'), 7);
  assertEquals(sum.get('gateway_state_bytes{store="responses"}'), 700);
  assertEquals(sum.get("gateway_state_pending_writes"), 12);
  assertEquals(sum.get('gateway_circuit_breaker_state{provider="openai"}'), 2);
  assertEquals(sum.get('gateway_provider_keys_resting{provider="openai"}'), 7);
  assertEquals(sum.get("gateway_state_up"), 0);
});

Deno.test("metrics of workers are only those of the parent: one process does not have them", async () => {
  const registry = new Registry();
  registerWorkerMetrics(registry, () => 0);
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  const alone = newGateway(compile(configOf(withSection()), 1), scriptedWorld(), []);
  const text = await alone.metrics.scrape();
  assertEquals(names.filter((name) => text.includes(name)), []);
});
