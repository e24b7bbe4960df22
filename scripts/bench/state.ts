import { configText } from "./configs.ts";
import { figure } from "./figures.ts";
import type { Processes } from "./processes.ts";

/** What a gateway holds after so many stored responses. */
export interface Held {
  readonly phase: string;
  readonly stored: number;
  readonly entries: number;
  /** As the gateway counts them. */
  readonly bytes: number;
  /** Memory of the process beyond what it had before the first one; in bytes. */
  readonly memory: number;
}

/** What may be kept of stored responses. */
export const MOST_ENTRIES = 1000, MOST_BYTES = 64 * 1024 * 1024;

interface Phase {
  readonly name: string;
  readonly count: number;
  readonly input: string;
}

const AT_ONCE = 8;

const PHASES: readonly Phase[] = [
  { name: "short", count: 3000, input: "Say hello. ".repeat(20) },
  { name: "of 100 kB", count: 3000, input: "Say hello. ".repeat(9000) },
];

/**
 * Has a gateway of its own store far more responses than it may keep. The memory of its process has
 * garbage in it, so that several times what is kept is usual.
 */
export async function state(
  servers: Processes,
  gatewayCore: number,
  upstreamCore: number,
): Promise<Held[]> {
  const upstream = await servers.start("upstream.ts", "", upstreamCore);
  const config = configText("one", `http://127.0.0.1:${upstream.port}`);
  const { port } = await servers.start("gateway.ts", config, gatewayCore);
  const url = `http://127.0.0.1:${port}`;
  // What the same calls need without anything kept is not state.
  for (const phase of PHASES) await run(url, phase, false);
  const before = await figures(url);
  const held: Held[] = [];
  for (const phase of PHASES) {
    await run(url, phase, true);
    const { entries, bytes, memory } = await figures(url);
    const more = memory - before.memory;
    held.push({ phase: phase.name, stored: phase.count, entries, bytes, memory: more });
  }
  return held;
}

async function run(url: string, { count, input }: Phase, store: boolean): Promise<void> {
  const body = JSON.stringify({ model: "json", input, store });
  for (let at = 0; at < count; at += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => create(url, body)));
  }
}

async function create(url: string, body: string): Promise<void> {
  const answer = await fetch(`${url}/v1/responses`, { method: "POST", body });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`A response was not created: ${text}`);
}

async function figures(url: string): Promise<Pick<Held, "entries" | "bytes" | "memory">> {
  return {
    entries: await figure(url, 'gateway_state_entries{store="responses"}'),
    bytes: await figure(url, 'gateway_state_bytes{store="responses"}'),
    memory: await figure(url, "process_resident_memory_bytes"),
  };
}
