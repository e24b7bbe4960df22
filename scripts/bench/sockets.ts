import { readMetric } from "./metrics.ts";
import type { ServerProcesses } from "./processes.ts";
import { newSocketClient } from "./socket_client.ts";

/** Memory of a gateway whose WebSocket clients read slowly, in bytes. */
export interface SocketsResult {
  readonly sockets: number;
  /** The number of requested responses, and of those that arrived complete and in order. */
  readonly turns: number;
  readonly answered: number;
  readonly bytesBefore: number;
  /** The largest memory measured. */
  readonly maxBytes: number;
  /** The bytes that all clients together received. */
  readonly bytesDelivered: number;
}

/** Memory limit for one socket whose client does not read. */
export const MAX_BYTES_PER_SOCKET = 1.5 * 1024 * 1024;

const SOCKET_COUNT = 200, SOCKET_TURN_COUNT = 2;

/** The time before the first read, between memory samples, and between two reads of a client. */
const UNREAD_MS = 3_000, MEMORY_SAMPLE_INTERVAL_MS = 100, READ_PAUSE_MS = 2;

/**
 * Requests large responses on many sockets, whose clients first do not read and then read slowly.
 */
export async function measureSockets(
  servers: ServerProcesses,
  gatewayCore: number,
  upstreamCore: number,
): Promise<SocketsResult> {
  const upstream = await servers.start("socket_upstream.ts", "", upstreamCore);
  const { port } = await servers.start("gateway.ts", config(upstream.port), gatewayCore);
  const url = `http://127.0.0.1:${port}`;
  const memory = () => readMetric(url, "process_resident_memory_bytes");
  const bytesBefore = await memory();
  const clients = await Promise.all(
    Array.from({ length: SOCKET_COUNT }, () => newSocketClient(port)),
  );
  for (const client of clients) {
    for (let turn = 0; turn < SOCKET_TURN_COUNT; turn++) await client.ask();
  }
  let maxBytes = bytesBefore;
  let isOver = false;
  async function sampleMemory() {
    while (!isOver) {
      maxBytes = Math.max(maxBytes, await memory());
      await pause(MEMORY_SAMPLE_INTERVAL_MS);
    }
  }
  const sampling = sampleMemory();
  await pause(UNREAD_MS);
  const results = await Promise.all(
    clients.map((client) => client.read(SOCKET_TURN_COUNT, () => pause(READ_PAUSE_MS))),
  );
  isOver = true;
  await sampling;
  for (const client of clients) client[Symbol.dispose]();
  return {
    sockets: SOCKET_COUNT,
    turns: SOCKET_COUNT * SOCKET_TURN_COUNT,
    answered: results.reduce((sum, { answered }) => sum + answered, 0),
    bytesBefore,
    maxBytes,
    bytesDelivered: results.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Returns a configuration as JSON, which is valid YAML. */
function config(upstream: number): string {
  const base_url = `http://127.0.0.1:${upstream}/v1`;
  const target = { provider: "up", upstream_request_type: "responses" };
  return JSON.stringify({
    providers: { up: { type: "compat", base_url, api_key: "sk-bench" } },
    routing: { routes: [{ name: "main", targets: [target] }] },
    retry: { enabled: false },
  });
}
