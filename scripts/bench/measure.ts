import { encodePost, type HttpClient, newHttpClient, type TimedResponse } from "./http_client.ts";
import type { ServerProcess } from "./processes.ts";
import type { Scenario, ScenarioRequest } from "./scenarios.ts";
import { findBodyError } from "./verify.ts";

/** What a system did in all rounds of a scenario. */
export interface Measurement {
  /** Units per second, one number for each round. */
  readonly rates: readonly number[];
  /** Of every answer, in microseconds, ascending. */
  readonly timesUs: readonly number[];
  /** Microseconds of processor time per answer; null where the system does not tell. */
  readonly cpuUs: number | null;
}

/** How long a scenario is run. */
export interface RunLength {
  readonly rounds: number;
  /** Of one system in one round. */
  readonly seconds: number;
}

/** A system before, between and after its rounds. */
export interface SystemRun extends Disposable {
  /** One more round of so many seconds. */
  round(seconds: number): Promise<void>;
  /** Forgets what was measured. */
  reset(): void;
  result(): Measurement;
}

/** Opens the connections of a scenario to one system and looks at its first answer closely. */
export async function newSystemRun(
  scenario: Scenario,
  system: ServerProcess,
  { path, body }: ScenarioRequest,
): Promise<SystemRun> {
  const request = encodePost(path, body);
  const clients: HttpClient[] = [];
  for (let at = 0; at < scenario.connections; at++) clients.push(await newHttpClient(system.port));
  const wanted = await checkFirstResponse(scenario, clients, request);
  let rates: number[] = [];
  let times: number[] = [];
  let cpu: number | null = 0;

  async function load(client: HttpClient, end: number): Promise<void> {
    while (performance.now() < end) {
      const answer = await client.exchange(request);
      const isSame = answer.status === 200 && answer.length === wanted.length &&
        answer.ending === wanted.ending;
      if (!isSame) throw new Error(`${scenario.name}: another answer than the first one.`);
      times.push(answer[scenario.timed] * 1000);
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

async function checkFirstResponse(
  scenario: Scenario,
  clients: readonly HttpClient[],
  request: Uint8Array,
): Promise<TimedResponse> {
  const [client] = clients;
  if (client === undefined) throw new Error("A scenario needs a connection.");
  const answer = await client.exchange(request);
  const trouble = answer.status === 200
    ? findBodyError(client.body())
    : `status ${answer.status}: ${client.body()}`;
  if (trouble !== null) throw new Error(`${scenario.name}: ${trouble}`);
  return answer;
}

/** Seconds before what counts: a system that had less to do until then would still be being optimized. */
const WARM_UP_SECONDS = 4;

/** Runs two systems in turns, so that a drifting machine drifts under both. */
export async function runInterleaved(
  runs: readonly [SystemRun, SystemRun],
  length: RunLength,
): Promise<void> {
  const [base, measured] = runs;
  for (const run of runs) {
    await run.round(WARM_UP_SECONDS);
    run.reset();
  }
  for (let round = 0; round < length.rounds; round++) {
    const order = round % 2 === 0 ? [base, measured] : [measured, base];
    for (const run of order) await run.round(length.seconds);
  }
}
