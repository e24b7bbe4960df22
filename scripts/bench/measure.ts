import { encodePost, type HttpClient, newHttpClient, type TimedResponse } from "./http_client.ts";
import type { ServerProcess } from "./processes.ts";
import { expectedRecords } from "./payloads.ts";
import { type Scenario, type ScenarioRequest, scenarios } from "./scenarios.ts";
import { findBodyError } from "./verify.ts";

/** The result of one system in all rounds of a scenario. */
export interface Measurement {
  /** The rate of each round, in units per second. */
  readonly rates: readonly number[];
  /** The time of every response in microseconds, ascending. */
  readonly timesUs: readonly number[];
  /** Processor time per response in microseconds; null where the system does not report it. */
  readonly cpuUs: number | null;
  /**
   * Processor time by the time of all rounds: 1 if the core of the system was never idle, less if
   * the load or the upstream was the limit. Null where the system does not report processor time.
   */
  readonly busyShare: number | null;
}

/** The number and length of the rounds of a scenario. */
export interface RunLength {
  readonly rounds: number;
  /** The length of one round of one system. */
  readonly seconds: number;
}

/** The collected times of one system in a scenario. */
export interface SystemRun {
  /** Runs one more round of `seconds` seconds. */
  round(seconds: number): Promise<void>;
  /** Discards the times measured before. */
  reset(): void;
  result(): Measurement;
}

/**
 * Returns the error in the body of a response. `records` is the number of text records of a stream;
 * null for a whole response.
 */
export type BodyCheck = (body: string, records: number | null) => string | null;

/** Validates the first response of a system to the requests of a scenario. */
export async function newSystemRun(
  scenario: Scenario,
  system: ServerProcess,
  request: ScenarioRequest,
  check: BodyCheck = findBodyError,
): Promise<SystemRun> {
  const records = expectedRecords(scenario.request.body);
  const findError = (body: string) => check(body, records);
  const turns = await checkFirstTurns(scenario, system.port, request, findError);
  let rates: number[] = [];
  let times: number[] = [];
  let cpu: number | null = 0;
  let tookMs = 0;

  async function load(client: HttpClient, end: number): Promise<void> {
    // At least one, so that a round on a busy machine has a result.
    for (let at = 0; at === 0 || performance.now() < end; at++) {
      const { encode, first } = at % DIALOGUE_TURN_COUNT === 0 ? turns.opening : turns.following;
      const response = await client.exchange(encode(client));
      const isSame = response.status === 200 && client.hasBody(first);
      // Identifiers and times of a response may differ.
      const error = isSame ? null : findResponseError(response, client.body(), findError);
      if (error !== null) throw new Error(`${scenario.name}: ${error}`);
      times.push(response[scenario.timed] * 1000);
    }
  }

  return {
    async round(seconds) {
      // Some servers close a connection that was idle while other systems had their turn.
      using clients = await connectAll(system.port, scenario.connections);
      const answered = times.length;
      const cpuBefore = system.cpuMs();
      const began = performance.now();
      const end = began + seconds * 1000;
      await Promise.all(clients.all.map((client) => load(client, end)));
      const roundMs = performance.now() - began;
      const cpuAfter = system.cpuMs();
      tookMs += roundMs;
      rates.push((times.length - answered) * scenario.unitsPerResponse / (roundMs / 1000));
      cpu = cpu === null || cpuBefore === null || cpuAfter === null
        ? null
        : cpu + cpuAfter - cpuBefore;
    },
    reset() {
      rates = [];
      times = [];
      cpu = 0;
      tookMs = 0;
    },
    result: () => ({
      rates,
      timesUs: times.toSorted((a, b) => a - b),
      cpuUs: cpu === null ? null : cpu * 1000 / times.length,
      busyShare: cpu === null ? null : cpu / tookMs,
    }),
  };
}

interface Connections extends Disposable {
  readonly all: readonly HttpClient[];
}

async function connectAll(port: number, count: number): Promise<Connections> {
  const all: HttpClient[] = [];
  for (let at = 0; at < count; at++) all.push(await newHttpClient(port));
  return {
    all,
    [Symbol.dispose]() {
      for (const client of all) client[Symbol.dispose]();
    },
  };
}

/** The number of requests after which a client begins a new dialogue. */
const DIALOGUE_TURN_COUNT = 8;

/** A request of a client, and the body of the first response to it, which was checked. */
interface Turn {
  /** Returns the request that follows the client's last response. */
  encode(client: HttpClient): Uint8Array;
  readonly first: Uint8Array;
}

/**
 * Returns the first request of a dialogue and those that follow; outside dialogues they are the
 * same.
 */
async function checkFirstTurns(
  scenario: Scenario,
  port: number,
  { path, body, headers, nextTurn }: ScenarioRequest,
  findError: (body: string) => string | null,
): Promise<{ readonly opening: Turn; readonly following: Turn }> {
  using client = await newHttpClient(port);
  const request = encodePost(path, body, headers);

  async function exchange(encoded: Uint8Array): Promise<Uint8Array> {
    const response = await client.exchange(encoded);
    const error = findResponseError(response, client.body(), findError);
    if (error !== null) throw new Error(`${scenario.name}: ${error}`);
    return client.bytes();
  }

  const opening = { encode: () => request, first: await exchange(request) };
  if (nextTurn === null) return { opening, following: opening };
  const encode = (last: HttpClient) => encodePost(path, nextTurn(responseId(last.body())), headers);
  const first = await exchange(encode(client));
  return { opening, following: { encode, first } };
}

/** Returns the ID at the start of a response; empty if there is none. */
function responseId(body: string): string {
  return /"id":"([^"]*)"/.exec(body)?.[1] ?? "";
}

function findResponseError(
  { status }: TimedResponse,
  body: string,
  findError: (body: string) => string | null,
): string | null {
  return status === 200 ? findError(body) : `status ${status}: ${body}`;
}

/**
 * Warm-up of each system before its times count, so that the runtime has optimized both equally.
 * Measured: the gateway is compiled again and again for its first 60,000 small requests.
 */
export const WARM_UP_S = 10;

/** Loads a system with the requests of the row `small`. Returns its rate in calls per second. */
export async function warmUp(system: ServerProcess, seconds: number): Promise<number> {
  const scenario = scenarios.find(({ name }) => name === "small");
  if (scenario === undefined) throw new Error("There is no row small.");
  const run = await newSystemRun(scenario, system, scenario.request);
  await run.round(seconds);
  return run.result().rates[0] ?? 0;
}

/**
 * Runs the rounds of the systems in turns, so that load changes of the machine affect all. Each
 * round begins with the next system. The warm-up has rounds of 1 s too: V8 collects the heap of a
 * process that is idle for 20 s in a way that loses compiled code, and its next calls cost half as
 * much again for seconds (measured with `--trace-gc` and `--trace-opt`).
 */
export async function runInterleaved(
  runs: readonly Pick<SystemRun, "round" | "reset">[],
  length: RunLength,
): Promise<void> {
  await runRounds({ rounds: WARM_UP_S, seconds: 1 });
  for (const run of runs) run.reset();
  await runRounds(length);

  async function runRounds({ rounds, seconds }: RunLength) {
    for (let round = 0; round < rounds; round++) {
      const first = round % runs.length;
      for (const run of [...runs.slice(first), ...runs.slice(0, first)]) await run.round(seconds);
    }
  }
}
