import { CHAT, type Cores, startCompared } from "./compared.ts";
import { encodePost, type HttpClient, newHttpClient } from "./http_client.ts";
import { warmUp } from "./measure.ts";
import { chatRequest } from "./payloads.ts";
import type { ServerProcesses } from "./processes.ts";
import { quantile } from "./report.ts";
import { openProfileClock, type ProfileClock, type TimedCall } from "./slow_calls.ts";

/** Calls over one connection to a provider that responds after 20 ms. */
export interface TailTimes {
  /** Times in microseconds, ascending. */
  readonly timesUs: readonly number[];
  /** Processor time of a call in microseconds; null where the system does not report it. */
  readonly cpuUs: number | null;
  /** Its calls by the clock of profiles; none where the system has no such clock. */
  readonly calls: readonly TimedCall[];
}

/** The calls to the provider itself, to the floor, to the least program and to the gateway. */
export interface TailResult {
  readonly direct: TailTimes;
  readonly floor: TailTimes;
  readonly least: TailTimes;
  readonly gateway: TailTimes;
}

/** The quantiles of the row. */
const QUANTILES = [["p50", 0.5], ["p99", 0.99], ["p99.9", 0.999]] as const;

/** Limit of the time that the gateway adds at p99 above the floor, in microseconds. */
const MAX_ABOVE_FLOOR_US = 300;

/** The rounds of each system, in turns: 1,400 calls, so that p99.9 is one of several. */
const ROUND_COUNT = 10, CALLS_IN_ROUND_COUNT = 140;

/** Load of a provider that responds at once, after which the runtime has compiled its code. */
const WARM_UP_S = 8;

/** Measures the provider alone, the floor, the least program and the gateway in turns. */
export async function measureTail(
  servers: ServerProcesses,
  cores: Cores,
): Promise<TailResult> {
  const { upstream, floor, gateway } = await startCompared(servers, cores);
  const address = `http://127.0.0.1:${upstream.port}${CHAT}`;
  const least = await servers.start("least.ts", address, cores.core);
  using clients = new DisposableStack();
  using clock = openProfileClock();
  const all = [];
  for (const system of [upstream, floor, least, gateway]) {
    if (system !== upstream) await warmUp(system, WARM_UP_S);
    const client = clients.use(await newHttpClient(system.port));
    all.push({ system, client, times: [] as number[], calls: [] as TimedCall[], cpuMs: 0 });
  }
  const request = encodePost(CHAT, chatRequest("json-slow", 1_000), {});
  for (let round = 0; round < ROUND_COUNT; round++) {
    for (const each of all) {
      const before = each.system.cpuMs() ?? NaN;
      each.times.push(...await timesOf(each, request, clock));
      each.cpuMs += (each.system.cpuMs() ?? NaN) - before;
    }
  }
  const [direct = NONE, floorTimes = NONE, leastTimes = NONE, gatewayTimes = NONE] = all
    .map(({ times, calls, cpuMs }) => ({
      calls,
      timesUs: times.toSorted((a, b) => a - b),
      cpuUs: Number.isNaN(cpuMs) ? null : cpuMs * 1000 / times.length,
    }));
  return { direct, floor: floorTimes, least: leastTimes, gateway: gatewayTimes };
}

const NONE: TailTimes = { timesUs: [], cpuUs: null, calls: [] };

async function timesOf(
  { client, calls }: { readonly client: HttpClient; readonly calls: TimedCall[] },
  request: Uint8Array,
  clock: ProfileClock | null,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at < CALLS_IN_ROUND_COUNT; at++) {
    const { status, totalMs } = await client.exchange(request);
    if (status !== 200) throw new Error(`tail: status ${status}: ${client.body()}`);
    times.push(totalMs * 1000);
    const endedUs = clock?.nowUs();
    if (endedUs !== undefined) calls.push({ beganUs: endedUs - totalMs * 1000, endedUs });
  }
  return times;
}

/** Returns the report lines: what each system adds to the time of the provider. */
export function tailLines({ direct, floor, least, gateway }: TailResult): string {
  const added = ({ timesUs }: TailTimes, share: number) =>
    quantile(timesUs, share) - quantile(direct.timesUs, share);
  const line = (name: string, times: TailTimes) => {
    const figures = QUANTILES.map(([label, share]) =>
      `${label} +${(added(times, share) / 1000).toFixed(2)} ms`
    );
    const cpu = `CPU of a call ${times.cpuUs?.toFixed(0) ?? "-"} µs`;
    return `tail   ${name.padEnd(20)} ${figures.join(", ")}; ${cpu}`;
  };
  const above = added(gateway, 0.99) - added(floor, 0.99);
  const missed = above <= MAX_ABOVE_FLOOR_US ? "" : " missed";
  return `${line("floor", floor)}\n${line("least", least)}\n${line("gateway", gateway)}; p99 ${
    (above / 1000).toFixed(2)
  } ms above the floor  <= ${(MAX_ABOVE_FLOOR_US / 1000).toFixed(2)} ms${missed}`;
}
