import { configText } from "./configs.ts";
import { chatRequest } from "./payloads.ts";
import type { ServerProcesses } from "./processes.ts";
import { findPrograms, type ProgramName, startProgram } from "./programs.ts";
import { findBodyError } from "./verify.ts";

/** Memory of a program while many slow streams are open, in bytes. */
export interface StreamsResult {
  readonly program: ProgramName;
  readonly streams: number;
  /** The number of streams that arrived complete. */
  readonly delivered: number;
  /** Memory before the first stream. */
  readonly idleBytes: number;
  /** The largest memory measured. */
  readonly maxBytes: number;
}

const STREAM_COUNT = 1_000;

/** Memory limit of all streams above the idle memory. */
const MAX_STREAMS_BYTES = 60 * 1024 * 1024;

const MEMORY_SAMPLE_INTERVAL_MS = 100;

/** Opens 1,000 streams of one record every 300 ms at the sources, and at the executable if it is built. */
export async function measureStreams(
  servers: ServerProcesses,
  { canPin, core, upstreamCore }: {
    readonly canPin: boolean;
    readonly core: number;
    readonly upstreamCore: number;
  },
): Promise<StreamsResult[]> {
  const upstream = await servers.start("upstream.ts", "", upstreamCore);
  const server = { server: { port: 0 } };
  const config = configText("one", `http://127.0.0.1:${upstream.port}`, {}, server);
  const results: StreamsResult[] = [];
  for (const program of await findPrograms(canPin, core)) {
    await using running = await startProgram(program, config);
    await (await fetch(`${running.url}/health`)).text();
    const memory = () => running.memoryBytes() ?? NaN;
    const idleBytes = memory();
    let maxBytes = idleBytes;
    const sampling = setInterval(
      () => maxBytes = Math.max(maxBytes, memory()),
      MEMORY_SAMPLE_INTERVAL_MS,
    );
    const outcomes = await Promise.all(
      Array.from({ length: STREAM_COUNT }, () => isDelivered(running.url)),
    );
    clearInterval(sampling);
    const delivered = outcomes.filter((one) => one).length;
    results.push({ program: program.name, streams: STREAM_COUNT, delivered, idleBytes, maxBytes });
  }
  return results;
}

/** True if the response to one request is a complete stream. */
async function isDelivered(url: string): Promise<boolean> {
  const body = chatRequest("sse-slow", 1_000);
  const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body });
  const text = await response.text();
  return response.status === 200 && findBodyError(text) === null;
}

/** Returns a report line with the memory of the streams above the idle memory. */
export function streamsLine(result: StreamsResult): string {
  const { program, streams, delivered, idleBytes, maxBytes } = result;
  const above = maxBytes - idleBytes;
  const [idle, most] = [idleBytes, above].map((bytes) => `${(bytes / 1024 / 1024).toFixed(0)} MiB`);
  const missed = above <= MAX_STREAMS_BYTES && delivered === streams ? "" : " missed";
  return `streams ${program.padEnd(19)} ${delivered} of ${streams} delivered; idle ${idle}, ` +
    `open +${most}  <= +${MAX_STREAMS_BYTES / 1024 / 1024} MiB${missed}`;
}
