import { configText } from "./configs.ts";
import { readMetric } from "./metrics.ts";
import type { ServerProcesses } from "./processes.ts";

/** Memory of a gateway early and late in a long run, in bytes. */
export interface SoakResult {
  readonly requests: number;
  /** After `EARLY_REQUEST_COUNT` requests, when every store is full. */
  readonly earlyBytes: number;
  readonly lateBytes: number;
  /** The number of entries in each store at the end. */
  readonly entries: Readonly<Record<string, number>>;
}

/**
 * The limit of memory growth between the early and the late measurement, as a share of the early
 * one.
 */
export const MAX_MEMORY_GROWTH = 0.1;

const REQUEST_COUNT = 100_000, EARLY_REQUEST_COUNT = 20_000;
const CONCURRENT_REQUEST_COUNT = 16;

const STORES = ["responses", "conversations", "response_bindings"];

/** Sends 100,000 requests to a new gateway, which evict entries from each of its stores. */
export async function measureSoak(
  servers: ServerProcesses,
  gatewayCore: number,
  upstreamCore: number,
): Promise<SoakResult> {
  const upstream = await servers.start("upstream.ts", "", upstreamCore);
  const config = configText("soak", `http://127.0.0.1:${upstream.port}`);
  const { port } = await servers.start("gateway.ts", config, gatewayCore);
  const url = `http://127.0.0.1:${port}`;
  await sendRequests(url, 0, EARLY_REQUEST_COUNT);
  const earlyBytes = await readMetric(url, "process_resident_memory_bytes");
  await sendRequests(url, EARLY_REQUEST_COUNT, REQUEST_COUNT);
  const lateBytes = await readMetric(url, "process_resident_memory_bytes");
  const entries: Record<string, number> = { cache: await readMetric(url, "gateway_cache_entries") };
  for (const store of STORES) {
    entries[store] = await readMetric(url, `gateway_state_entries{store="${store}"}`);
  }
  return { requests: REQUEST_COUNT, earlyBytes, lateBytes, entries };
}

async function sendRequests(url: string, from: number, to: number): Promise<void> {
  let next = from;
  async function work() {
    while (next < to) await sendRequest(url, next++);
  }
  await Promise.all(Array.from({ length: CONCURRENT_REQUEST_COUNT }, work));
}

/** Sends a request that differs from all earlier ones, so that the gateway stores it separately. */
async function sendRequest(url: string, at: number): Promise<void> {
  const { path, body } = newSoakRequest(at);
  const response = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  if (response.status !== 200) {
    throw new Error(`Request ${at} failed with status ${response.status}: ${text}`);
  }
}

function newSoakRequest(at: number): { readonly path: string; readonly body: object } {
  const text = `Say hello to number ${at}. `.repeat(10);
  const messages = [{ role: "user", content: text }];
  switch (at % 10) {
    case 0:
      return { path: "/v1/conversations", body: { metadata: { number: String(at) } } };
    case 1:
    case 2:
      return { path: "/v1/responses", body: { model: "json", input: text } };
    case 3:
      return { path: "/v1/chat/completions", body: { model: "sse-short", stream: true, messages } };
    default:
      return { path: "/v1/chat/completions", body: { model: "json", messages } };
  }
}
