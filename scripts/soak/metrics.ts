/** Gauges of the gateway that are 0 when no call is in flight. */
const IDLE_GAUGES: readonly string[] = [
  "gateway_active_requests",
  "gateway_websocket_connections",
  "gateway_request_body_bytes",
  "gateway_response_body_bytes",
  "gateway_provider_running",
  "gateway_provider_queued",
];

/** Sums of metrics of the gateway over all of their labels. */
export interface Gauges {
  /** Calls in flight by name of the gauge. */
  readonly inFlight: ReadonlyMap<string, number>;
  readonly requests: number;
  readonly reloads: number;
  readonly refusedReloads: number;
  readonly retries: number;
  readonly fallbacks: number;
  readonly brokenStreams: number;
  /** Operations of the state store that have failed, and waiting writes that were lost. */
  readonly storeFailures: number;
  readonly lostWrites: number;
}

/** Gauges of the gateway on its state store. */
export interface StateGauges {
  readonly isUp: boolean;
  /** Writes that wait for the store. */
  readonly pending: number;
}

/** Reads the metrics of the gateway at `url`, but for those of this request itself. */
async function readMetrics(url: string): Promise<(start: string) => number> {
  using client = Deno.createHttpClient({});
  const all = await (await fetch(`${url}/metrics`, { client })).text();
  const lines = all.split("\n").filter((line) => !line.includes('endpoint="/metrics"'));
  return (start) =>
    lines.filter((line) => line.startsWith(`${start}{`) || line.startsWith(`${start} `))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(" "))), 0);
}

/** Reads what the gateway at `url` says of its state store. */
export async function readStateGauges(url: string): Promise<StateGauges> {
  const sum = await readMetrics(url);
  return { isUp: sum("gateway_state_up") === 1, pending: sum("gateway_state_pending_writes") };
}

/** Reads the metrics of the gateway at `url`. */
export async function readGauges(url: string): Promise<Gauges> {
  const sum = await readMetrics(url);
  return {
    inFlight: new Map(IDLE_GAUGES.map((name) => [name, sum(name)])),
    requests: sum("gateway_requests_total"),
    reloads: sum('gateway_config_reloads_total{result="success"}'),
    refusedReloads: sum('gateway_config_reloads_total{result="failure"}'),
    retries: sum("gateway_retries_total"),
    fallbacks: sum("gateway_fallbacks_total"),
    brokenStreams: sum("gateway_stream_failures_total"),
    storeFailures: sum("gateway_state_failures_total"),
    lostWrites: sum("gateway_state_lost_writes_total"),
  };
}
