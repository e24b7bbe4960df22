import process from "node:process";
import { PERMISSIONS } from "../packaging/permissions.ts";
import { newSystemRun, type RunLength, type SystemRun } from "./measure.ts";
import type { ServerProcess, ServerProcesses } from "./processes.ts";
import { median } from "./report.ts";
import type { Scenario } from "./scenarios.ts";

/** Rate and cost of a gateway with some number of workers. */
export interface WorkersMeasurement {
  /** Rates of the rounds, in requests per second. */
  readonly rates: readonly number[];
  /** Processor time of a request in microseconds, of the parent and all workers together. */
  readonly gatewayUs: number;
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
 * A request that costs the gateway far more than the load generator: a body of many small objects that
 * is parsed and found in the cache, so that no upstream takes part of a core.
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
  { rounds, seconds }: RunLength,
  canPin: boolean,
  upstreamCore: number,
): Promise<WorkersResult> {
  const { port } = await servers.start("upstream.ts", "", upstreamCore);
  await using first = await startProgram(configText(port, 1), canPin);
  await using second = await startProgram(configText(port, 2), canPin);
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

async function newMeasuredRun(system: ServerProcess): Promise<MeasuredRun> {
  const run: SystemRun = await newSystemRun(SCENARIO, system, SCENARIO.request);
  let loadUs = 0;
  return {
    async warmUp() {
      await run.round(WARM_UP_S);
      run.reset();
    },
    async round(seconds) {
      const before = ownCpuUs();
      await run.round(seconds);
      loadUs += ownCpuUs() - before;
    },
    result() {
      const { rates, timesUs, cpuUs } = run.result();
      return { rates, gatewayUs: cpuUs ?? NaN, loadUs: loadUs / timesUs.length };
    },
  };
}

function ownCpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Starts the program from its sources on all cores. */
async function startProgram(
  config: string,
  canPin: boolean,
): Promise<ServerProcess & AsyncDisposable> {
  const path = await Deno.makeTempFile({ suffix: ".yaml" });
  await Deno.writeTextFile(path, config);
  const main = new URL("../../main.ts", import.meta.url).pathname;
  const words = [Deno.execPath(), "run", ...PERMISSIONS, main, "--config", path];
  const cores = `0-${CORE_COUNT - 1}`;
  const [command = "", ...args] = canPin ? ["taskset", "-c", cores, ...words] : words;
  const child = new Deno.Command(command, { args, stdout: "piped", stderr: "inherit" }).spawn();
  let stdout = "";
  let port: number | null = null;
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    stdout += text;
    const found = /listens on http:\/\/\S+:(\d+)\s/.exec(stdout);
    if (found === null) continue;
    port = Number(found[1]);
    break;
  }
  if (port === null) throw new Error(`The program did not start: ${stdout}`);
  return {
    port,
    cpuMs: () => treeCpuMs(child.pid),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(path);
    },
  };
}

/** Linux reports processor time in units of a hundredth of a second. */
const CPU_TICK_MS = 10;

/** Returns the processor time of a process and its children; null where the system does not report it. */
function treeCpuMs(pid: number): number | null {
  if (Deno.build.os !== "linux") return null;
  let sum = 0;
  for (const { name } of Deno.readDirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? readStat(name) : null;
    if (stat !== null && (Number(name) === pid || stat.parent === pid)) sum += stat.cpuMs;
  }
  return sum;
}

function readStat(pid: string) {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    // The process name is in parentheses and may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return {
      parent: Number(fields[1]),
      cpuMs: (Number(fields[11]) + Number(fields[12])) * CPU_TICK_MS,
    };
  } catch {
    return null;
  }
}

/**
 * Returns the report line. The load generator needs a part of the cores too, so with two cores the rate
 * cannot reach the target; then the processor time of a request decides, which shows what two workers
 * do on two cores of their own.
 */
export function workersLine({ cores, one, two }: WorkersResult): string {
  const rate = median(two.rates.map((each, round) => each / (one.rates[round] ?? each)));
  const scaling = 2 * one.gatewayUs / two.gatewayUs;
  const limit = Math.min(2, cores * one.gatewayUs / (two.gatewayUs + two.loadUs));
  const decisive = cores > 2 ? rate : scaling;
  const systems = [one, two].map(({ rates, gatewayUs }) =>
    `${median(rates).toFixed(0)}/s, ${gatewayUs.toFixed(0)} µs CPU`
  );
  return `workers one ${systems[0]}; two ${systems[1]}; rate ${rate.toFixed(2)} times ` +
    `(at most ${limit.toFixed(2)} on ${cores} cores beside the load, ` +
    `${two.loadUs.toFixed(0)} µs a request); ${scaling.toFixed(2)} times by CPU  ` +
    `>= ${MIN_WORKERS_RATIO.toFixed(2)}${decisive >= MIN_WORKERS_RATIO ? "" : " missed"}`;
}
