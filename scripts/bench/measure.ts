import { type Answered, type Client, openClient, requestBytes } from "./client.ts";
import type { Served } from "./processes.ts";
import type { Asked, Scenario } from "./scenarios.ts";
import { checkedBody } from "./verify.ts";

/** What a system did in all rounds of a scenario. */
export interface Measured {
  /** Units per second, one number for each round. */
  readonly rates: readonly number[];
  /** Of every answer, in microseconds, ascending. */
  readonly times: readonly number[];
  /** Microseconds of processor time per answer; null where the system does not tell. */
  readonly cpu: number | null;
}

/** How long a scenario is run. */
export interface Length {
  readonly rounds: number;
  /** Of one system in one round. */
  readonly seconds: number;
}

/** A system before, between and after its rounds. */
export interface Run extends Disposable {
  /** One more round of so many seconds. */
  round(seconds: number): Promise<void>;
  /** Forgets what was measured. */
  reset(): void;
  result(): Measured;
}

/** Opens the connections of a scenario to one system and looks at its first answer closely. */
export async function openRun(
  scenario: Scenario,
  system: Served,
  { path, body }: Asked,
): Promise<Run> {
  const request = requestBytes(path, body);
  const clients: Client[] = [];
  for (let at = 0; at < scenario.connections; at++) clients.push(await openClient(system.port));
  const wanted = await firstAnswer(scenario, clients, request);
  let rates: number[] = [];
  let times: number[] = [];
  let cpu: number | null = 0;

  async function load(client: Client, end: number): Promise<void> {
    while (performance.now() < end) {
      const answer = await client.exchange(request);
      const isSame = answer.status === 200 && answer.length === wanted.length &&
        answer.last === wanted.last;
      if (!isSame) throw new Error(`${scenario.name}: another answer than the first one.`);
      times.push(answer[scenario.until] * 1000);
    }
  }

  return {
    async round(seconds) {
      const answered = times.length;
      const cpuBefore = system.cpu();
      const began = performance.now();
      await Promise.all(clients.map((client) => load(client, began + seconds * 1000)));
      const took = (performance.now() - began) / 1000;
      const cpuAfter = system.cpu();
      rates.push((times.length - answered) * scenario.units / took);
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
      times: times.toSorted((a, b) => a - b),
      cpu: cpu === null ? null : cpu * 1000 / times.length,
    }),
    [Symbol.dispose]() {
      for (const client of clients) client[Symbol.dispose]();
    },
  };
}

async function firstAnswer(
  scenario: Scenario,
  clients: readonly Client[],
  request: Uint8Array,
): Promise<Answered> {
  const [client] = clients;
  if (client === undefined) throw new Error("A scenario needs a connection.");
  const answer = await client.exchange(request);
  const trouble = answer.status === 200
    ? checkedBody(client.body())
    : `status ${answer.status}: ${client.body()}`;
  if (trouble !== null) throw new Error(`${scenario.name}: ${trouble}`);
  return answer;
}

/** Seconds before what counts: a system that had less to do until then would still be being optimized. */
const WARM_UP = 4;

/** Runs two systems in turns, so that a drifting machine drifts under both. */
export async function interleaved(runs: readonly [Run, Run], length: Length): Promise<void> {
  const [base, measured] = runs;
  for (const run of runs) {
    await run.round(WARM_UP);
    run.reset();
  }
  for (let round = 0; round < length.rounds; round++) {
    const order = round % 2 === 0 ? [base, measured] : [measured, base];
    for (const run of order) await run.round(length.seconds);
  }
}
