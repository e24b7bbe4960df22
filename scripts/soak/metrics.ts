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
  /** What is in flight, by name of the gauge. */
  readonly inFlight: ReadonlyMap<string, number>;
  readonly requests: number;
  readonly reloads: number;
  readonly refusedReloads: number;
  readonly retries: number;
  readonly fallbacks: number;
  readonly brokenStreams: number;
}

/** Reads the metrics of the gateway at `url`. */
export async function readGauges(url: string): Promise<Gauges> {
  using client = Deno.createHttpClient({});
  const all = await (await fetch(`${url}/metrics`, { client })).text();
  // The request for the metrics is itself in flight.
  const text = all.split("\n").filter((line) => !line.includes('endpoint="/metrics"')).join("\n");
  const sum = (start: string) =>
    text.split("\n").filter((line) => line.startsWith(`${start}{`) || line.startsWith(`${start} `))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(" "))), 0);
  const reloads = (result: string) =>
    Number(
      new RegExp(`^gateway_config_reloads_total\\{result="${result}"\\} (\\d+)$`, "m")
        .exec(text)?.[1] ?? 0,
    );
  return {
    inFlight: new Map(IDLE_GAUGES.map((name) => [name, sum(name)])),
    requests: sum("gateway_requests_total"),
    reloads: reloads("success"),
    refusedReloads: reloads("failure"),
    retries: sum("gateway_retries_total"),
    fallbacks: sum("gateway_fallbacks_total"),
    brokenStreams: sum("gateway_stream_failures_total"),
  };
}
