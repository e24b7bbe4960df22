import { configText } from "./configs.ts";
import { chatRequest, expectedRecords } from "./payloads.ts";
import type { ServerProcesses } from "./processes.ts";
import { findPrograms, type ProgramName, type Programs } from "./programs.ts";
import { findBodyError } from "./verify.ts";

/** Memory of a program while many slow streams are open, in bytes. */
export interface StreamsResult {
  readonly program: ProgramName | "floor";
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

/**
 * Opens 1,000 streams of one record every 300 ms at the floor, at the sources, and at the executable if it
 * is built.
 */
export async function measureStreams(
  servers: ServerProcesses,
  programs: Programs,
  { canPin, core, upstreamCore }: {
    readonly canPin: boolean;
    readonly core: number;
    readonly upstreamCore: number;
  },
): Promise<StreamsResult[]> {
  const upstream = await servers.start("upstream.ts", "", upstreamCore);
  const address = `http://127.0.0.1:${upstream.port}`;
  const floor = await servers.start("floor.ts", `${address}/v1/chat/completions`, core);
  const results = [
    await measure("floor", `http://127.0.0.1:${floor.port}`, floor.memoryBytes),
  ];
  const config = configText("one", address, {}, { server: { port: 0 } });
  for (const program of await findPrograms(canPin, core)) {
    await using running = await programs.start(program, config);
    results.push(await measure(program.name, running.url, running.memoryBytes));
  }
  return results;
}

async function measure(
  program: StreamsResult["program"],
  url: string,
  memoryBytes: () => number | null,
): Promise<StreamsResult> {
  const memory = () => memoryBytes() ?? NaN;
  // The first request loads what all requests use.
  await isDelivered(url);
  const idleBytes = memory();
  let maxBytes = idleBytes;
  const sampling = setInterval(
    () => maxBytes = Math.max(maxBytes, memory()),
    MEMORY_SAMPLE_INTERVAL_MS,
  );
  const outcomes = await Promise.all(
    Array.from({ length: STREAM_COUNT }, () => isDelivered(url)),
  );
  clearInterval(sampling);
  const delivered = outcomes.filter((one) => one).length;
  return { program, streams: STREAM_COUNT, delivered, idleBytes, maxBytes };
}

/** True if the response to one request is a complete stream. */
async function isDelivered(url: string): Promise<boolean> {
  const body = chatRequest("sse-slow", 1_000);
  const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body });
  const text = await response.text();
  return response.status === 200 && findBodyError(text, expectedRecords(body)) === null;
}

/** Returns a report line with the memory of the streams above the idle memory. */
export function streamsLine(result: StreamsResult): string {
  const { program, streams, delivered, idleBytes, maxBytes } = result;
  const above = maxBytes - idleBytes;
  const [idle, most] = [idleBytes, above].map((bytes) => `${(bytes / 1024 / 1024).toFixed(0)} MiB`);
  const figures = `streams ${
    program.padEnd(19)
  } ${delivered} of ${streams} delivered; idle ${idle}, open +${most}`;
  if (program === "floor") return figures;
  const missed = above <= MAX_STREAMS_BYTES && delivered === streams ? "" : " missed";
  return `${figures}  <= +${MAX_STREAMS_BYTES / 1024 / 1024} MiB${missed}`;
}
