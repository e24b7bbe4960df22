import { fitLastHalf, type MemorySample } from "../soak/memory.ts";
import { configText } from "./configs.ts";
import { chatRequest, messagesRequest, responsesRequest } from "./payloads.ts";
import type { ServerProcesses } from "./processes.ts";
import { findPrograms, type ProgramName, type Programs } from "./programs.ts";

/** Memory of a program under mixed load, in bytes. */
export interface MixedResult {
  readonly program: ProgramName;
  readonly minutes: number;
  readonly calls: number;
  /** Before the load. */
  readonly idleBytes: number;
  /** One sample a second under load. */
  readonly samples: readonly MemorySample[];
  /** After a minute without requests behind the load. */
  readonly minuteAfterBytes: number;
  /** After `QUIET_S` without requests. */
  readonly quietBytes: number;
}

/** Clients, each with one call at a time, and the pause of each between two calls. */
const CLIENT_COUNT = 8, PAUSE_MS = 100;

const MEMORY_SAMPLE_INTERVAL_MS = 1_000;

/**
 * Time without a request behind the load, after which V8 has made the heap small: it looks for
 * idle processes 10 minutes after a collection (`v8Flags`).
 */
export const QUIET_S = 12 * 60;

/** The calls, in turn. */
const CALLS: readonly (readonly [path: string, body: Uint8Array<ArrayBuffer>])[] = [
  ["/v1/chat/completions", chatRequest("json", 1_000)],
  ["/v1/chat/completions", chatRequest("json", 20_000)],
  ["/v1/chat/completions", chatRequest("json", 200_000)],
  ["/v1/chat/completions", chatRequest("sse-1", 1_000)],
  ["/v1/chat/completions", chatRequest("sse-short", 1_000)],
  ["/v1/messages", messagesRequest("json", 1_000)],
  ["/v1/messages", messagesRequest("sse-1", 1_000)],
  ["/v1/responses", responsesRequest(1_000)],
];

/** Loads each program for some minutes, the sources and the executable if it is built. */
export async function measureMixed(
  servers: ServerProcesses,
  programs: Programs,
  { minutes, canPin, core, upstreamCore }: {
    readonly minutes: number;
    readonly canPin: boolean;
    readonly core: number;
    readonly upstreamCore: number;
  },
): Promise<readonly MixedResult[]> {
  const upstream = await servers.start("upstream.ts", "", upstreamCore);
  const config = configText("one", `http://127.0.0.1:${upstream.port}`, {}, {
    server: { port: 0 },
  });
  const found = await findPrograms(canPin, core);
  return await Promise.all(found.map(async (program): Promise<MixedResult> => {
    await using running = await programs.start(program, config);
    const memory = () => running.memoryBytes() ?? NaN;
    await (await fetch(`${running.url}/health`)).text();
    const idleBytes = memory();
    const began = performance.now();
    const hours = () => (performance.now() - began) / 3_600_000;
    const samples: MemorySample[] = [];
    const sampling = setInterval(
      () => samples.push({ hours: hours(), bytes: memory() }),
      MEMORY_SAMPLE_INTERVAL_MS,
    );
    let calls = 0;
    await Promise.all(Array.from({ length: CLIENT_COUNT }, async () => {
      while (hours() * 60 < minutes) {
        await call(running.url, calls++);
        await pause(PAUSE_MS);
      }
    }));
    clearInterval(sampling);
    await pause(60_000);
    const minuteAfterBytes = memory();
    await pause(QUIET_S * 1_000 - 60_000);
    return {
      program: program.name,
      minutes,
      calls,
      idleBytes,
      samples,
      minuteAfterBytes,
      quietBytes: memory(),
    };
  }));
}

async function call(url: string, number: number): Promise<void> {
  const [path, body] = CALLS[number % CALLS.length] ?? [];
  if (path === undefined || body === undefined) return;
  const response = await fetch(`${url}${path}`, { method: "POST", body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`mixed: status ${response.status}: ${text}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Returns the report line of a program: its growth, and what comes back after the load. */
export function mixedLine(result: MixedResult): string {
  const { program, minutes, calls, idleBytes, samples, minuteAfterBytes, quietBytes } = result;
  const slope = fitLastHalf(samples);
  const growth = slope === null
    ? "too short for a slope"
    : `${mb(slope.bytesPerHour / 60)} ± ${mb(slope.error / 60)} MB a minute over the last half`;
  const most = Math.max(idleBytes, ...samples.map(({ bytes }) => bytes));
  const back = (bytes: number) => `${((most - bytes) / (most - idleBytes) * 100).toFixed(0)} %`;
  return `mixed  ${program.padEnd(20)} ${calls} calls in ${minutes} minutes: ${growth}; ` +
    `${mb(idleBytes)} MB before, ${mb(most)} at most, ${mb(minuteAfterBytes)} a minute after, ` +
    `${mb(quietBytes)} after ${QUIET_S / 60} minutes: ${back(minuteAfterBytes)} and ` +
    `${back(quietBytes)} of it came back`;
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
