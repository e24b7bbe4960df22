import { Counter, Gauge, Registry } from "prom-client";
import { newLog, textOf } from "../../src/observe/log.ts";
import { newGroup } from "../../src/workers/group.ts";
import type { Handed } from "../../src/workers/handed.ts";
import type { StartMessage } from "../../src/workers/messages.ts";
import { token } from "../credentials/scripted_source.ts";
import { shareOf } from "../../src/workers/share.ts";
import { configOf } from "../config/parse.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";
import { newScriptedWorkers, type ScriptedWorker } from "./scripted_workers.ts";
import type { MetricValues } from "../../src/observe/worker_metrics.ts";

const CONFIG = configOf(`
server: {workers: 2, drain_delay: 1s, drain_timeout: 2s, max_concurrent_requests: 10}
state: {store: none}
providers: {sim: {type: compat, base_url: "http://127.0.0.1:1"}}
routing: {routes: [{name: all, targets: [{provider: sim}]}]}
`);

/** A group of two scripted workers. */
function newScriptedGroup() {
  const world = scriptedWorld();
  const { spawn, workers } = newScriptedWorkers();
  let log = "";
  let restarts = 0;
  const handed: Extract<Handed, { kind: "credential" }>[] = [];
  const group = newGroup(CONFIG, {
    world,
    log: newLog({ level: "debug", format: "console" }, (line) => void (log += textOf(line))),
    workers: 2,
    port: 4100,
    instanceId: "gateway-1",
    isColoured: false,
    spawn,
    ownMetrics: () => Promise.resolve([]),
    restarted: () => void restarts++,
    handed: () => handed,
    demand: (demanded) =>
      Promise.resolve(
        demanded.of === "credential" ? handed.find(({ id }) => id === demanded.id) ?? null : null,
      ),
  });

  function worker(at: number): ScriptedWorker {
    const found = workers[at];
    if (found === undefined) throw new Error(`process ${at} was not started`);
    return found;
  }

  return {
    group,
    world,
    workers,
    worker,
    /** Objects that the parent has fetched. */
    handed,
    log: () => log,
    restarts: () => restarts,
    /** Starts both workers. */
    async started(): Promise<void> {
      const starting = group.start();
      for (const each of workers) each.say({ kind: "listening" });
      assertEquals(await starting, null);
    },
    /**
     * Requests the metrics at the first worker, as a client does there; resolves with the sum of
     * `x_total`.
     */
    async scraped(values: ReadonlyMap<ScriptedWorker, number>): Promise<readonly [string, string]> {
      const [first] = values.keys();
      first?.say({ kind: "scrape" });
      await world.advance(0);
      for (const [each, value] of values) {
        if (each.received.at(-1)?.kind !== "measure") continue;
        each.say({ kind: "measured", metrics: await metricsWith(value) });
      }
      await world.advance(2_000);
      const response = first?.received.at(-1);
      const text = response?.kind === "scraped" ? response.text ?? "" : "";
      return [seriesOf(text, "x_total"), seriesOf(text, "y")];
    },
  };
}

function seriesOf(text: string, name: string): string {
  return new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1] ?? "none";
}

/** Metrics with a counter `x_total` and a gauge `y` of this value. */
async function metricsWith(value: number): Promise<MetricValues> {
  const registers = [new Registry()];
  new Counter({ name: "x_total", help: "x", registers }).inc(value);
  new Gauge({ name: "y", help: "y", registers }).set(value);
  return JSON.parse(JSON.stringify(await registers[0]?.getMetricsAsJSON()));
}

/** Returns the limit of a worker, which serves its share of the configuration. */
function maxRequests({ config, place }: StartMessage): number {
  return shareOf(config, place).server.max_concurrent_requests;
}

Deno.test("each worker begins with its place, the shared port and its share of the configuration", async () => {
  const scripted = newScriptedGroup();
  await scripted.started();
  const starts = scripted.workers.map(({ received }) => received[0]);
  assertEquals(
    starts.map((start) =>
      start?.kind === "start" && [start.place, start.port, start.generation, maxRequests(start)]
    ),
    [[{ number: 1, workers: 2 }, 4100, 1, 5], [{ number: 2, workers: 2 }, 4100, 1, 5]],
  );
  assertEquals(scripted.group.listening(), 2);
});

Deno.test("a problem at the first start ends all workers, and none is started again", async () => {
  const { group, workers, worker, world, log } = newScriptedGroup();
  const starting = group.start();
  worker(0).say({ kind: "listening" });
  worker(1).say({ kind: "refused", problem: "the port is taken" });
  worker(1).end();
  assertEquals(await starting, "the port is taken");
  assertEquals([worker(0).isKilled(), world.waiting, workers.length], [true, 0, 2]);
  assertEquals(log().includes("WARN"), false);
});

Deno.test("a worker that ends is started again after the delay, with the generation that is current then", async () => {
  const { group, workers, worker, world, log, restarts, started } = newScriptedGroup();
  await started();
  worker(1).end("signal SIGSEGV");
  await world.advance(0);
  assertMatch(
    log(),
    /WARN +worker ended; it is started again worker=2 reason="signal SIGSEGV" delay_ms=100/,
  );
  assertEquals([group.listening(), restarts()], [1, 1]);
  group.reload({ ...CONFIG, server: { ...CONFIG.server, max_concurrent_requests: 20 } });
  await world.advance(99);
  assertEquals(workers.length, 2);
  await world.advance(1);
  const start = worker(2).received[0];
  assertEquals(
    start?.kind === "start" &&
      [start.place.number, start.generation, maxRequests(start)],
    [2, 2, 10],
  );
  assertEquals(worker(0).received.at(-1)?.kind, "reload");
});

Deno.test("workers have what their parent has fetched at their start, each update of it, and what one of them demands", async () => {
  const { group, worker, world, handed, started } = newScriptedGroup();
  const update = { issued: token("t1", null), isFailing: false, nextMs: null };
  const first = { kind: "credential", id: "c", update } as const;
  handed.push(first);
  await started();
  for (const at of [0, 1]) {
    const start = worker(at).received[0];
    assertEquals(start?.kind === "start" && start.handed, [first]);
  }
  const next = { ...first, update: { ...update, issued: token("t2", null) } };
  group.hand(next);
  for (const at of [0, 1]) assertEquals(worker(at).received.at(-1), next);
  for (const id of ["c", "unknown"]) {
    worker(1).say({ kind: "demand", demanded: { of: "credential", id } });
  }
  await world.advance(0);
  assertEquals(worker(1).received.slice(-2), [next, first]);
  assertEquals(worker(0).received.at(-1), next);
});

Deno.test("a worker whose starts fail five times in succession ends the gateway with the reason", async () => {
  const { group, workers, worker, world, started } = newScriptedGroup();
  await started();
  let failure = "";
  void group.failed.then((reason) => failure = reason);
  worker(0).end();
  for (let start = 2; start < 7; start++) {
    await world.advance(10_000);
    assertEquals([workers.length, failure], [start + 1, ""]);
    worker(start).say({ kind: "refused", problem: "the server is away" });
    worker(start).end();
  }
  await world.advance(60_000);
  assertEquals(failure, "worker 1 does not start; its last end: the server is away");
  assertEquals(workers.length, 7);
});

Deno.test("the sum of the metrics never goes backwards while workers end and begin again", async () => {
  const { worker, world, started, scraped } = newScriptedGroup();
  await started();
  const [first, second] = [worker(0), worker(1)];
  assertEquals(await scraped(new Map([[first, 10], [second, 5]])), ["15", "15"]);
  second.end();
  await world.advance(0);
  // The counter of the ended process still counts, its gauge does not.
  assertEquals(await scraped(new Map([[first, 10]])), ["15", "10"]);
  await world.advance(100);
  const third = worker(2);
  assertEquals(await scraped(new Map([[first, 10]])), ["15", "10"]);
  third.say({ kind: "listening" });
  await world.advance(0);
  assertEquals(await scraped(new Map([[first, 11], [third, 2]])), ["18", "13"]);
  third.say({ kind: "drained", metrics: await metricsWith(4) });
  third.end();
  await world.advance(0);
  assertEquals(await scraped(new Map([[first, 11]])), ["20", "11"]);
});

Deno.test("a worker that does not respond in 2 s counts with its last metrics", async () => {
  const { worker, started, scraped } = newScriptedGroup();
  await started();
  const [first, second] = [worker(0), worker(1)];
  assertEquals(await scraped(new Map([[first, 10], [second, 5]])), ["15", "15"]);
  assertEquals(await scraped(new Map([[first, 12]])), ["17", "17"]);
});

Deno.test("metrics that cannot be added are a logged bug, and the gateway continues", async () => {
  const { worker, world, log, started, scraped } = newScriptedGroup();
  await started();
  const [first, second] = [worker(0), worker(1)];
  second.say({ kind: "measured", metrics: JSON.parse('[{"name":"x_total","type":"counter"}]') });
  first.say({ kind: "scrape" });
  await world.advance(2_000);
  assertEquals(first.received.at(-1), { kind: "scraped", text: null });
  assertMatch(log(), /ERROR metrics of workers could not be added; this is a bug at=/);
  for (const each of [first, second]) each.say({ kind: "measured", metrics: [] });
  await world.advance(0);
  assertEquals(await scraped(new Map([[first, 10], [second, 5]])), ["15", "15"]);
});

Deno.test("a worker that reads no messages is killed, and started again with the new configuration", async () => {
  const { group, worker, workers, world, started } = newScriptedGroup();
  await started();
  worker(1).stopReading();
  group.reload(CONFIG);
  assertEquals(worker(1).isKilled(), true);
  await world.advance(100);
  assertEquals(workers.length, 3);
  assertEquals(worker(2).received[0]?.kind, "start");
});

Deno.test("a worker whose event loop is blocked is killed within 35 s, and started again with the reason in the log", async () => {
  const { worker, workers, world, log, restarts, started } = newScriptedGroup();
  await started();
  worker(1).hang();
  await world.advance(34_999);
  assertEquals([worker(0).isKilled(), worker(1).isKilled()], [false, false]);
  await world.advance(1);
  assertEquals([worker(0).isKilled(), worker(1).isKilled()], [false, true]);
  assertMatch(
    log(),
    /WARN +worker ended; it is started again worker=2 reason="no response for 30 s" delay_ms=100/,
  );
  await world.advance(100);
  assertEquals([workers.length, restarts()], [3, 1]);
  worker(2).say({ kind: "listening" });
  await world.advance(600_000);
  assertEquals([workers.length, worker(0).isKilled(), worker(2).isKilled()], [3, false, false]);
});

Deno.test("a worker that hangs during a drain is killed too, and not started again", async () => {
  const { group, worker, workers, world, started } = newScriptedGroup();
  await started();
  worker(1).hang();
  await world.advance(20_000);
  const draining = group.drain();
  worker(0).end("exit code 0");
  await world.advance(15_000);
  await draining;
  assertEquals([worker(1).isKilled(), workers.length, world.waiting], [true, 2, 0]);
});

Deno.test("a worker that does not begin to listen within a minute is killed", async () => {
  const { group, worker, world } = newScriptedGroup();
  void group.start();
  worker(0).say({ kind: "listening" });
  await world.advance(60_000);
  assertEquals([worker(0).isKilled(), worker(1).isKilled()], [false, true]);
});

Deno.test("a drain reaches all workers, ends when they have ended, and starts none again", async () => {
  const { group, worker, workers, world, started } = newScriptedGroup();
  await started();
  worker(1).end();
  await world.advance(0);
  let isOver = false;
  const draining = group.drain().then(() => isOver = true);
  assertEquals(worker(0).received.at(-1), { kind: "drain" });
  await world.advance(5_000);
  assertEquals([isOver, workers.length], [false, 2]);
  worker(0).end("exit code 0");
  await draining;
  assertEquals(world.waiting, 0);
});

Deno.test("a worker that has not ended long after its drain is killed", async () => {
  const { group, worker, world, started } = newScriptedGroup();
  await started();
  const draining = group.drain();
  worker(0).end("exit code 0");
  await world.advance(3_000 + 29_999);
  assertEquals(worker(1).isKilled(), false);
  await world.advance(1);
  await draining;
  assertEquals(worker(1).isKilled(), true);
});
