import process from "node:process";
import { PERMISSIONS } from "../packaging/permissions.ts";
import { newSystemRun, type RunLength, type SystemRun } from "./measure.ts";
import { rowV8Options, type ServerProcesses, treeCpuMs } from "./processes.ts";
import type { Program, Programs, RunningProgram } from "./programs.ts";
import { median } from "./report.ts";
import type { Scenario } from "./scenarios.ts";

/** Rate and cost of a gateway with some number of workers. */
export interface WorkersMeasurement {
  /** Rates of the rounds, in requests per second. */
  readonly rates: readonly number[];
  /** Processor time of a request in microseconds, of the parent and all workers together. */
  readonly gatewayUs: number;
  /**
   * The part of it in the main threads, which serve one request after the other. The rest are
   * threads of the runtime that collect garbage and compile at the same time, on another core if
   * one is free.
   */
  readonly mainUs: number;
  /** Processor time of a request in microseconds, of the load generator. */
  readonly loadUs: number;
}

/** Two workers compared with one. */
export interface WorkersResult {
  readonly cores: number;
  readonly one: WorkersMeasurement;
  readonly two: WorkersMeasurement;
}

/** The minimum ratio of the rate of two workers to that of one. */
export const MIN_WORKERS_RATIO = 1.8;

/** Messages of a request, each of them a small object. */
const MESSAGE_COUNT = 4_000;

/**
 * A request that costs the gateway far more than the load generator: a body of many small objects
 * that is parsed and found in the cache, so that no upstream takes part of a core.
 */
const SCENARIO: Scenario = {
  name: "workers",
  connections: 32,
  request: {
    path: "/v1/chat/completions",
    body: dialogueOf(MESSAGE_COUNT),
    headers: {},
    nextTurn: null,
  },
  measuredRequest: null,
  unitsPerResponse: 1,
  timed: "totalMs",
  base: "one",
  measured: "one",
  targets: [],
};

function dialogueOf(count: number): Uint8Array<ArrayBuffer> {
  const messages = Array.from({ length: count }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `turn ${at}`,
  }));
  return new TextEncoder().encode(JSON.stringify({ model: "json", messages, max_tokens: 400 }));
}

/** The cores of this machine, read before the load generator is pinned to one of them. */
const CORE_COUNT = navigator.hardwareConcurrency;

/** Warm-up of each system, in which all workers compile their code and fill their caches. */
const WARM_UP_S = 6;

function configText(upstreamPort: number, workers: number): string {
  return JSON.stringify({
    server: { port: 0, workers },
    state: { store: "none" },
    caching: { enabled: true },
    retry: { enabled: false },
    providers: {
      up: { type: "compat", base_url: `http://127.0.0.1:${upstreamPort}/v1`, api_key: "sk-bench" },
    },
    routing: { routes: [{ name: "main", targets: [{ provider: "up" }] }] },
  });
}

/** Measures the program with one and with two workers, in turns. */
export async function measureWorkers(
  servers: ServerProcesses,
  programs: Programs,
  { rounds, seconds }: RunLength,
  { canPin, upstreamCore }: { readonly canPin: boolean; readonly upstreamCore: number },
): Promise<WorkersResult> {
  const { port } = await servers.start("upstream.ts", "", upstreamCore);
  const source = programOnAllCores(canPin);
  await using first = await programs.start(source, configText(port, 1));
  await using second = await programs.start(source, configText(port, 2));
  const one = await newMeasuredRun(first);
  const two = await newMeasuredRun(second);
  for (const run of [one, two]) await run.warmUp();
  for (let round = 0; round < rounds; round++) {
    for (const run of round % 2 === 0 ? [one, two] : [two, one]) await run.round(seconds);
  }
  return { cores: CORE_COUNT, one: one.result(), two: two.result() };
}

interface MeasuredRun {
  warmUp(): Promise<void>;
  round(seconds: number): Promise<void>;
  result(): WorkersMeasurement;
}

async function newMeasuredRun({ url, pid }: RunningProgram): Promise<MeasuredRun> {
  const system = { port: Number(new URL(url).port), cpuMs: () => treeCpuMs(pid, "all") };
  const run: SystemRun = await newSystemRun(SCENARIO, system, SCENARIO.request);
  const mainUs = () => (treeCpuMs(pid, "main") ?? NaN) * 1_000;
  let loadSumUs = 0;
  let mainSumUs = 0;
  return {
    async warmUp() {
      await run.round(WARM_UP_S);
      run.reset();
    },
    async round(seconds) {
      const before = { load: ownCpuUs(), main: mainUs() };
      await run.round(seconds);
      loadSumUs += ownCpuUs() - before.load;
      mainSumUs += mainUs() - before.main;
    },
    result() {
      const { rates, timesUs, cpuUs } = run.result();
      const count = timesUs.length;
      return {
        rates,
        gatewayUs: cpuUs ?? NaN,
        mainUs: mainSumUs / count,
        loadUs: loadSumUs / count,
      };
    },
  };
}

function ownCpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Returns the sources of the program, on all cores. */
function programOnAllCores(canPin: boolean): Program {
  const main = new URL("../../main.ts", import.meta.url).pathname;
  const pinned = canPin ? ["taskset", "-c", `0-${CORE_COUNT - 1}`] : [];
  const options = [...PERMISSIONS, ...rowV8Options()];
  return { name: "source", command: [...pinned, Deno.execPath(), "run", ...options, main] };
}

/**
 * Returns the report line. The load generator needs a part of the cores too, so with two cores the
 * rate cannot reach the target; then the processor time of a request decides: what two workers do
 * on two cores of their own, by what one does on one core. One worker is faster where its runtime
 * has a second core for its other threads, so the line also has the ratio to that.
 */
export function workersLine({ cores, one, two }: WorkersResult): string {
  const rate = median(two.rates.map((each, round) => each / (one.rates[round] ?? each)));
  const scaling = 2 * one.gatewayUs / two.gatewayUs;
  const alone = { one: { ...one, loadUs: 0 }, two: { ...two, loadUs: 0 } };
  const decisive = cores > 2 ? rate : scaling;
  const systems = [one, two].map(({ rates, gatewayUs, mainUs }) =>
    `${median(rates).toFixed(0)}/s, ${gatewayUs.toFixed(0)} µs CPU (${
      mainUs.toFixed(0)
    } in main threads)`
  );
  return `workers one ${systems[0]}; two ${systems[1]}; rate ${rate.toFixed(2)} times ` +
    `(at most ${highestRatio(cores, { one, two }).toFixed(2)} on ${cores} cores beside the load, ` +
    `${two.loadUs.toFixed(0)} µs a request); ${scaling.toFixed(2)} times one core by CPU, ` +
    `${highestRatio(2, alone).toFixed(2)} times one worker with two cores  ` +
    `>= ${MIN_WORKERS_RATIO.toFixed(2)}${decisive >= MIN_WORKERS_RATIO ? "" : " missed"}`;
}

/**
 * Returns the ratio of the highest rates that the processor time of a request permits on these
 * cores.
 */
function highestRatio(cores: number, { one, two }: Pick<WorkersResult, "one" | "two">): number {
  return highestRate(cores, 2, two) / highestRate(cores, 1, one);
}

/** The rate is bounded by the main thread of each worker, and by all cores together. */
function highestRate(
  cores: number,
  workers: number,
  { gatewayUs, mainUs, loadUs }: WorkersMeasurement,
): number {
  return Math.min(workers / mainUs, cores / (gatewayUs + loadUs));
}
