import { CHAT, type Cores, startCompared } from "./compared.ts";
import { encodePost, type HttpClient, newHttpClient } from "./http_client.ts";
import { warmUp } from "./measure.ts";
import { chatRequest } from "./payloads.ts";
import type { ServerProcesses } from "./processes.ts";
import { quantile } from "./report.ts";

/** Times of calls over one connection to a provider that responds after 20 ms, in microseconds. */
export interface TailResult {
  /** To the provider itself, to the floor and to the gateway, each ascending. */
  readonly directUs: readonly number[];
  readonly floorUs: readonly number[];
  readonly gatewayUs: readonly number[];
}

/** The quantiles of the row. */
const QUANTILES = [["p50", 0.5], ["p99", 0.99], ["p99.9", 0.999]] as const;

/** Limit of the time that the gateway adds at p99 above the floor, in microseconds. */
const MAX_ABOVE_FLOOR_US = 300;

/** The rounds of each system, in turns: 1,400 calls, so that p99.9 is one of several. */
const ROUND_COUNT = 10, CALLS_IN_ROUND_COUNT = 140;

/** Load of a provider that responds at once, after which the runtime has compiled its code. */
const WARM_UP_S = 8;

/** Measures the provider alone, the floor and the gateway in turns. */
export async function measureTail(
  servers: ServerProcesses,
  cores: Cores,
): Promise<TailResult> {
  const { upstream, floor, gateway } = await startCompared(servers, cores);
  using direct = await newHttpClient(upstream.port);
  using overFloor = await newHttpClient(floor.port);
  using overGateway = await newHttpClient(gateway.port);
  for (const system of [floor, gateway]) await warmUp(system, WARM_UP_S);
  const all = [direct, overFloor, overGateway].map((client) => ({ client, times: [] as number[] }));
  const request = encodePost(CHAT, chatRequest("json-slow", 1_000), {});
  for (let round = 0; round < ROUND_COUNT; round++) {
    for (const { client, times } of all) {
      times.push(...await timesOf(client, request, CALLS_IN_ROUND_COUNT));
    }
  }
  const [directUs = [], floorUs = [], gatewayUs = []] = all
    .map(({ times }) => times.toSorted((a, b) => a - b));
  return { directUs, floorUs, gatewayUs };
}

async function timesOf(
  client: HttpClient,
  request: Uint8Array,
  count: number,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at < count; at++) {
    const { status, totalMs } = await client.exchange(request);
    if (status !== 200) throw new Error(`tail: status ${status}: ${client.body()}`);
    times.push(totalMs * 1000);
  }
  return times;
}

/** Returns the report lines: what each system adds to the time of the provider. */
export function tailLines({ directUs, floorUs, gatewayUs }: TailResult): string {
  const added = (times: readonly number[], share: number) =>
    quantile(times, share) - quantile(directUs, share);
  const line = (name: string, times: readonly number[]) => {
    const figures = QUANTILES.map(([label, share]) =>
      `${label} +${(added(times, share) / 1000).toFixed(2)} ms`
    );
    return `tail   ${name.padEnd(20)} ${figures.join(", ")}`;
  };
  const above = added(gatewayUs, 0.99) - added(floorUs, 0.99);
  const missed = above <= MAX_ABOVE_FLOOR_US ? "" : " missed";
  return `${line("floor", floorUs)}\n${line("gateway", gatewayUs)}; p99 ${
    (above / 1000).toFixed(2)
  } ms above the floor  <= ${(MAX_ABOVE_FLOOR_US / 1000).toFixed(2)} ms${missed}`;
}
