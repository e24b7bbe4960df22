import { encodePost, type HttpClient, newHttpClient, type TimedResponse } from "./http_client.ts";
import type { ServerProcess } from "./processes.ts";
import type { Scenario, ScenarioRequest } from "./scenarios.ts";
import { findBodyError } from "./verify.ts";

/** The result of one system in all rounds of a scenario. */
export interface Measurement {
  /** The rate of each round, in units per second. */
  readonly rates: readonly number[];
  /** The time of every response in microseconds, ascending. */
  readonly timesUs: readonly number[];
  /** Processor time per response in microseconds; null where the system does not report it. */
  readonly cpuUs: number | null;
}

/** The number and length of the rounds of a scenario. */
export interface RunLength {
  readonly rounds: number;
  /** The length of one round of one system. */
  readonly seconds: number;
}

/** The open connections and collected times of one system in a scenario. */
export interface SystemRun extends Disposable {
  /** Runs one more round of `seconds` seconds. */
  round(seconds: number): Promise<void>;
  /** Discards the times measured before. */
  reset(): void;
  result(): Measurement;
}

/** Opens the connections of a scenario to one system and validates its first response. */
export async function newSystemRun(
  scenario: Scenario,
  system: ServerProcess,
  request: ScenarioRequest,
): Promise<SystemRun> {
  const clients: HttpClient[] = [];
  for (let at = 0; at < scenario.connections; at++) clients.push(await newHttpClient(system.port));
  const turns = await checkFirstTurns(scenario, clients, request);
  let rates: number[] = [];
  let times: number[] = [];
  let cpu: number | null = 0;

  async function load(client: HttpClient, end: number): Promise<void> {
    for (let at = 0; performance.now() < end; at++) {
      const { encode, first } = at % DIALOGUE_TURN_COUNT === 0 ? turns.opening : turns.following;
      const response = await client.exchange(encode(client));
      const isSame = response.status === 200 && response.length === first.length &&
        response.ending === first.ending;
      if (!isSame) throw new Error(`${scenario.name}: a response differs from the first one.`);
      times.push(response[scenario.timed] * 1000);
    }
  }

  return {
    async round(seconds) {
      const answered = times.length;
      const cpuBefore = system.cpuMs();
      const began = performance.now();
      await Promise.all(clients.map((client) => load(client, began + seconds * 1000)));
      const took = (performance.now() - began) / 1000;
      const cpuAfter = system.cpuMs();
      rates.push((times.length - answered) * scenario.unitsPerResponse / took);
      cpu = cpu === null || cpuBefore === null || cpuAfter === null
        ? null
        : cpu + cpuAfter - cpuBefore;
    },
    reset() {
      rates = [];
      times = [];
      cpu = 0;
    },
    result: () => ({
      rates,
      timesUs: times.toSorted((a, b) => a - b),
      cpuUs: cpu === null ? null : cpu * 1000 / times.length,
    }),
    [Symbol.dispose]() {
      for (const client of clients) client[Symbol.dispose]();
    },
  };
}

/** The number of requests after which a client begins a new dialogue. */
const DIALOGUE_TURN_COUNT = 8;

/** A request of a client, and the first response to it that was checked. */
interface Turn {
  /** Returns the request that follows the client's last response. */
  encode(client: HttpClient): Uint8Array;
  readonly first: TimedResponse;
}

/** Returns the first request of a dialogue and those that follow; outside dialogues they are the same. */
async function checkFirstTurns(
  scenario: Scenario,
  [client]: readonly HttpClient[],
  { path, body, nextTurn }: ScenarioRequest,
): Promise<{ readonly opening: Turn; readonly following: Turn }> {
  if (client === undefined) throw new Error("A scenario needs at least one connection.");
  const request = encodePost(path, body);
  const opening = {
    encode: () => request,
    first: await checkFirstResponse(scenario, client, request),
  };
  if (nextTurn === null) return { opening, following: opening };
  const encode = (last: HttpClient) => encodePost(path, nextTurn(responseId(last.body())));
  const first = await checkFirstResponse(scenario, client, encode(client));
  return { opening, following: { encode, first } };
}

/** Returns the ID at the start of a response; empty if there is none. */
function responseId(body: string): string {
  return /"id":"([^"]*)"/.exec(body)?.[1] ?? "";
}

async function checkFirstResponse(
  scenario: Scenario,
  client: HttpClient,
  request: Uint8Array,
): Promise<TimedResponse> {
  const response = await client.exchange(request);
  const error = response.status === 200
    ? findBodyError(client.body())
    : `status ${response.status}: ${client.body()}`;
  if (error !== null) throw new Error(`${scenario.name}: ${error}`);
  return response;
}

/**
 * Warm-up of each system before its times count, so that the runtime has optimized both equally.
 */
const WARM_UP_S = 4;

/** Runs the rounds of two systems in turns, so that load changes of the machine affect both. */
export async function runInterleaved(
  runs: readonly [SystemRun, SystemRun],
  length: RunLength,
): Promise<void> {
  const [base, measured] = runs;
  for (const run of runs) {
    await run.round(WARM_UP_S);
    run.reset();
  }
  for (let round = 0; round < length.rounds; round++) {
    const order = round % 2 === 0 ? [base, measured] : [measured, base];
    for (const run of order) await run.round(length.seconds);
  }
}
