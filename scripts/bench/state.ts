import { configText } from "./configs.ts";
import { readMetric } from "./metrics.ts";
import type { ServerProcesses } from "./processes.ts";

/** The state of a gateway after a number of stored responses. */
export interface StateResult {
  readonly phase: string;
  readonly created: number;
  readonly entries: number;
  /** The size of the stored responses, as the gateway counts it. */
  readonly storedBytes: number;
  /** The growth of the process memory since before the first stored response, in bytes. */
  readonly processBytes: number;
}

/** Limits of stored responses. */
export const MAX_STORED_ENTRIES = 1000, MAX_STORED_BYTES = 64 * 1024 * 1024;

interface StatePhase {
  readonly name: string;
  readonly count: number;
  readonly input: string;
}

const CONCURRENT_REQUEST_COUNT = 8;

const PHASES: readonly StatePhase[] = [
  { name: "short", count: 3000, input: "Say hello. ".repeat(20) },
  { name: "of 100 kB", count: 3000, input: "Say hello. ".repeat(9000) },
];

/**
 * Stores far more responses in a new gateway than it may keep. The process memory includes garbage
 * and is usually several times the stored bytes.
 */
export async function measureState(
  servers: ServerProcesses,
  gatewayCore: number,
  upstreamCore: number,
): Promise<StateResult[]> {
  const upstream = await servers.start("upstream.ts", "", upstreamCore);
  const config = configText("one", `http://127.0.0.1:${upstream.port}`);
  const { port } = await servers.start("gateway.ts", config, gatewayCore);
  const url = `http://127.0.0.1:${port}`;
  // Memory that the same calls need without storing anything does not count as state.
  for (const phase of PHASES) await createResponses(url, { ...phase, store: false });
  const before = await readState(url);
  const results: StateResult[] = [];
  for (const phase of PHASES) {
    await createResponses(url, { ...phase, store: true });
    const { entries, storedBytes, processBytes } = await readState(url);
    const more = processBytes - before.processBytes;
    results.push({
      phase: phase.name,
      created: phase.count,
      entries,
      storedBytes,
      processBytes: more,
    });
  }
  return results;
}

async function createResponses(
  url: string,
  { count, input, store }: StatePhase & { readonly store: boolean },
): Promise<void> {
  const body = JSON.stringify({ model: "json", input, store });
  for (let at = 0; at < count; at += CONCURRENT_REQUEST_COUNT) {
    await Promise.all(
      Array.from({ length: CONCURRENT_REQUEST_COUNT }, () => createResponse(url, body)),
    );
  }
}

async function createResponse(url: string, body: string): Promise<void> {
  const response = await fetch(`${url}/v1/responses`, { method: "POST", body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`A response was not created: ${text}`);
}

async function readState(
  url: string,
): Promise<Pick<StateResult, "entries" | "storedBytes" | "processBytes">> {
  return {
    entries: await readMetric(url, 'gateway_state_entries{store="responses"}'),
    storedBytes: await readMetric(url, 'gateway_state_bytes{store="responses"}'),
    processBytes: await readMetric(url, "process_resident_memory_bytes"),
  };
}
