import { UNKNOWN_ENDPOINT } from "../../src/core/endpoint.ts";
import { fault, refuse } from "../../src/core/failure/result.ts";
import { type Metrics, newMetrics } from "../../src/observe/metrics.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { metricSources, samplesNamed } from "./exposition.ts";
import { reportOf, tryOf, USAGE } from "./reports.ts";

const CONFIG = `
providers:
  up: {type: compat, base_url: "http://up", default_model: usual}
  other: {type: compat, base_url: "http://other"}
routing:
  routes:
    - name: main
      targets: [{provider: up, model: m}]
      fallback: [{provider: other, model: spare}]
`;

function metricsOver(config = CONFIG): Metrics {
  const parsed = configOf(config);
  return newMetrics(metricSources({
    config: () => parsed,
    breakers: () => [["up", "closed"], ["other", "open"]],
    slots: () => [["up", { running: 2, queued: 5 }]],
    restingKeys: () => [["up", 1]],
    cache: () => ({ entries: 3, bytes: 700 }),
  }));
}

async function named(metrics: Metrics, name: string) {
  return samplesNamed(await metrics.scrape(), name);
}

/** The counter of refusals by limits before the first one. */
const LIMITED = {
  '{reason="requests"}': 0,
  '{reason="tokens"}': 0,
  '{reason="concurrency"}': 0,
  '{reason="budget"}': 0,
};

Deno.test("every call counts once, under what the configuration names", async () => {
  const metrics = metricsOver();
  metrics.sink(reportOf());
  metrics.sink(reportOf());
  metrics.sink(
    reportOf({ endpoint: UNKNOWN_ENDPOINT, provider: null, model: null, route: null, status: 404 }),
  );
  const chat = 'endpoint="/v1/chat/completions",provider="up",model="m"';
  assertEquals(await named(metrics, "gateway_requests_total"), {
    [`{${chat},route="main",status="200"}`]: 2,
    '{endpoint="",provider="",model="",route="",status="404"}': 1,
  });
  const sums = await named(metrics, "gateway_request_duration_seconds_sum");
  assertEquals(sums[`{${chat}}`], 4);
  const overheads = await named(metrics, "gateway_overhead_seconds_sum");
  assertEquals(overheads['{endpoint="/v1/chat/completions"}']?.toFixed(3), "0.020");
});

Deno.test("models that only clients name share one label", async () => {
  const metrics = metricsOver();
  for (const model of ["m", "usual", "spare"]) metrics.sink(reportOf({ model }));
  for (let n = 0; n < 100; n++) metrics.sink(reportOf({ model: `invented-${n}` }));
  const requests = await named(metrics, "gateway_requests_total");
  const models = Object.keys(requests).map((labels) => /model="([^"]*)"/.exec(labels)?.[1]);
  assertEquals(models, ["m", "usual", "spare", "_dynamic"]);
  assertEquals(Object.values(requests), [1, 1, 1, 100]);
});

Deno.test("a model gets its own label with the configuration that names it", async () => {
  let config = configOf(CONFIG);
  const metrics = newMetrics(metricSources({ config: () => config }));
  metrics.sink(reportOf({ model: "newer" }));
  config = configOf(CONFIG.replace("default_model: usual", "default_model: newer"));
  metrics.sink(reportOf({ model: "newer" }));
  const durations = await named(metrics, "gateway_request_duration_seconds_count");
  const labels = 'endpoint="/v1/chat/completions",provider="up",model=';
  assertEquals(durations, { [`{${labels}"_dynamic"}`]: 1, [`{${labels}"newer"}`]: 1 });
});

Deno.test("tokens, cached tokens and cost are summed by provider and model", async () => {
  const metrics = metricsOver();
  metrics.sink(reportOf({ usage: USAGE, cost: 0.25 }));
  metrics.sink(reportOf({ usage: USAGE, cost: 0.25 }));
  metrics.sink(reportOf());
  const labels = 'provider="up",model="m"';
  assertEquals(await named(metrics, "gateway_tokens_total"), {
    [`{${labels},direction="input"}`]: 2_000,
    [`{${labels},direction="output"}`]: 100,
  });
  assertEquals(await named(metrics, "gateway_cached_tokens_total"), {
    [`{${labels},operation="read"}`]: 600,
    [`{${labels},operation="write"}`]: 400,
  });
  assertEquals(await named(metrics, "gateway_cost_usd_total"), { [`{${labels}}`]: 0.5 });
});

Deno.test("an impossible usage is not counted", async () => {
  const metrics = metricsOver();
  const usage = { ...USAGE, input: -5, output: Infinity, cached: NaN, cacheWrite: -1 };
  metrics.sink(reportOf({ usage, cost: -3 }));
  metrics.sink(reportOf({ usage: { ...usage, cached: Infinity, cacheWrite: Infinity } }));
  const tokens = await named(metrics, "gateway_tokens_total");
  assertEquals(Object.values(tokens), [0, 0]);
  assertEquals(await named(metrics, "gateway_cached_tokens_total"), {});
});

Deno.test("attempts, retries and fallbacks are counted separately", async () => {
  const metrics = metricsOver();
  metrics.sink(reportOf({
    provider: "other",
    fallbacks: 1,
    attempts: [
      tryOf({ outcome: "upstream_unavailable" }),
      tryOf({ outcome: "upstream_timeout", number: 2 }),
      tryOf({ provider: "other" }),
    ],
  }));
  assertEquals(await named(metrics, "gateway_upstream_attempts_total"), {
    '{provider="up",outcome="upstream_unavailable"}': 1,
    '{provider="up",outcome="upstream_timeout"}': 1,
    '{provider="other",outcome="success"}': 1,
  });
  assertEquals(await named(metrics, "gateway_retries_total"), { '{provider="up"}': 1 });
  assertEquals(await named(metrics, "gateway_fallbacks_total"), { '{route="main"}': 1 });
});

Deno.test("failed connections count by their cause, those of a stream too", async () => {
  const metrics = metricsOver();
  const broken = fault("upstream_unreachable", "Broke.", { cause: "closed" }).failure;
  metrics.sink(reportOf({
    provider: "other",
    attempts: [
      tryOf({ outcome: "upstream_unreachable", cause: "refused" }),
      tryOf({ outcome: "upstream_unreachable", cause: "refused", number: 2 }),
      tryOf({ outcome: "upstream_unavailable" }),
      tryOf({ provider: "other" }),
    ],
    failure: broken,
    brokeOff: true,
  }));
  metrics.sink(reportOf({
    attempts: [tryOf({ outcome: "upstream_unreachable", cause: "dns" })],
    failure: fault("upstream_unreachable", "No name.", { cause: "dns" }).failure,
  }));
  metrics.connectionFailed("up", "dns");
  metrics.reconnected("up");
  assertEquals(await named(metrics, "gateway_upstream_failures_total"), {
    '{provider="up",cause="dns"}': 2,
    '{provider="up",cause="refused"}': 2,
    '{provider="other",cause="closed"}': 1,
  });
  assertEquals(await named(metrics, "gateway_upstream_reconnects_total"), { '{provider="up"}': 1 });
});

Deno.test("a broken stream is counted as a stream failure, unless its client left or a drain cut it", async () => {
  const metrics = metricsOver();
  const broken = fault("upstream_unreachable", "Broke.").failure;
  const left = fault("client_cancelled", "Left.").failure;
  const drained = refuse("draining", "Ends.").failure;
  const ms = { earlyHead: null, firstByte: 500, firstToken: 500, upstream: 490, total: 900 };
  metrics.sink(reportOf({ stream: true, brokeOff: true, failure: broken, ms }));
  metrics.sink(reportOf({ stream: true, brokeOff: true, failure: left, ms }));
  metrics.sink(reportOf({ stream: true, brokeOff: true, failure: drained, ms }));
  assertEquals(await named(metrics, "gateway_stream_failures_total"), { '{provider="up"}': 1 });
  const first = await named(metrics, "gateway_time_to_first_token_seconds_sum");
  assertEquals(first, { '{provider="up",model="m"}': 1.5 });
});

Deno.test("a cache lookup is counted as a hit or a miss", async () => {
  const metrics = metricsOver();
  for (const cache of ["HIT", "MISS", "MISS", null] as const) metrics.sink(reportOf({ cache }));
  assertEquals(await named(metrics, "gateway_cache_lookups_total"), {
    '{result="hit"}': 1,
    '{result="miss"}': 2,
  });
});

Deno.test("a running call is counted as active, and only authentication refusals as auth failures", async () => {
  const metrics = metricsOver();
  metrics.began("/v1/chat/completions");
  metrics.began("/v1/chat/completions");
  metrics.sink(reportOf({ failure: refuse("unknown_url", "No.").failure }));
  assertEquals(await named(metrics, "gateway_active_requests"), {
    '{endpoint="/v1/chat/completions"}': 1,
  });
  assertEquals(await named(metrics, "gateway_auth_failures_total"), { "": 0 });
  assertEquals(await named(metrics, "gateway_rate_limited_total"), LIMITED);
});

Deno.test("requests without a valid key and those of who sends too many are counted", async () => {
  const metrics = metricsOver();
  for (const kind of ["missing_api_key", "invalid_api_key", "rate_limit_exceeded"] as const) {
    metrics.sink(reportOf({ failure: refuse(kind, "No.").failure }));
  }
  assertEquals(await named(metrics, "gateway_auth_failures_total"), { "": 2 });
  assertEquals(await named(metrics, "gateway_rate_limited_total"), {
    ...LIMITED,
    '{reason="requests"}': 1,
  });
});

Deno.test("gauges are read at scrape time", async () => {
  const metrics = metricsOver();
  assertEquals(await named(metrics, "gateway_circuit_breaker_state"), {
    '{provider="up"}': 0,
    '{provider="other"}': 2,
  });
  assertEquals(await named(metrics, "gateway_cache_bytes"), { "": 700 });
  assertEquals(await named(metrics, "gateway_cache_entries"), { "": 3 });
  const [cpu = 0] = Object.values(await named(metrics, "process_cpu_seconds_total"));
  const [memory = 0] = Object.values(await named(metrics, "process_resident_memory_bytes"));
  assert(cpu > 0 && memory > 0);
});

Deno.test("reloads are counted from zero by how they went", async () => {
  const metrics = metricsOver();
  metrics.reloaded("success");
  metrics.reloaded("success");
  assertEquals(await named(metrics, "gateway_config_reloads_total"), {
    '{result="success"}': 2,
    '{result="failure"}': 0,
  });
});

Deno.test("two gateways in one process do not share their metrics", async () => {
  const [one, other] = [metricsOver(), metricsOver()];
  one.sink(reportOf());
  assertEquals(await named(other, "gateway_requests_total"), {});
});

Deno.test("however many reports there were, a scrape has counted each of them once", async () => {
  const metrics = metricsOver();
  let reports = 0;
  for (const more of [1, 62, 1, 1, 200]) {
    for (let n = 0; n < more; n++) metrics.sink(reportOf({}));
    reports += more;
    const counted = Object.values(await named(metrics, "gateway_requests_total"));
    assertEquals(counted.reduce((sum, count) => sum + count, 0), reports);
  }
});

Deno.test("running and queued calls of providers with a limit are gauges of their provider", async () => {
  const metrics = metricsOver();
  assertEquals(await named(metrics, "gateway_provider_running"), { '{provider="up"}': 2 });
  assertEquals(await named(metrics, "gateway_provider_queued"), { '{provider="up"}': 5 });
});

Deno.test("calls that wait to be counted hold nothing of the errors of their providers", async () => {
  const program = new URL("held_reports.ts", import.meta.url).pathname;
  const args = [
    "run",
    "--no-check",
    "--allow-read",
    "--allow-env",
    "--v8-flags=--expose-gc",
    program,
  ];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
  const heldBytes = Number(new TextDecoder().decode(stdout));
  assert(heldBytes > -20_000_000 && heldBytes < 20_000_000, `${heldBytes} bytes`);
});
