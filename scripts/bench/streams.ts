import { configText } from "./configs.ts";
import { chatRequest, expectedRecords } from "./payloads.ts";
import { PROBE_MARK, probedProgram } from "../soak/gateway_process.ts";
import {
  MEMORY_PARTS,
  type MemoryParts,
  readMemoryParts,
  type ServerProcesses,
} from "./processes.ts";
import { findPrograms, type ProgramName, type Programs, type RunningProgram } from "./programs.ts";
import { partsText } from "./start.ts";
import { findBodyError } from "./verify.ts";

/** Memory of a program while many slow streams are open, in bytes. */
export interface StreamsResult {
  readonly program: ProgramName | "provider" | "floor";
  readonly streams: number;
  /** The number of streams that arrived complete. */
  readonly delivered: number;
  /** Memory before the first stream. */
  readonly idleBytes: number;
  /** The largest memory measured. */
  readonly maxBytes: number;
  /**
   * By how much the parts of the memory have grown at most; null where the system does not report
   * them.
   */
  readonly grown: MemoryParts | null;
}

/** Memory in use of the sources for each open stream, in bytes. */
export interface StreamsInUse {
  readonly streams: number;
  /** Bytes of objects and of buffers after a garbage collection. */
  readonly bytesPerStream: number;
}

const STREAM_COUNT = 1_000;

/** Memory limit of all streams above the idle memory. */
const MAX_STREAMS_BYTES = 80 * 1024 * 1024;

const MEMORY_SAMPLE_INTERVAL_MS = 100;

/**
 * Opens 1,000 streams of one record every 300 ms at the provider itself, which shows what the
 * runtime needs for a stream of JavaScript alone, at the floor, at the sources, and at the
 * executable if it is built.
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
  const provider = await servers.start("upstream.ts", "", core);
  const floor = await servers.start("floor.ts", `${address}/v1/chat/completions`, core);
  const results = [
    await measure("provider", `http://127.0.0.1:${provider.port}`, provider),
    await measure("floor", `http://127.0.0.1:${floor.port}`, floor),
  ];
  const config = configText("one", address, {}, { server: { port: 0 } });
  for (const program of await findPrograms(canPin, core)) {
    await using running = await programs.start(program, config);
    results.push(await measure(program.name, running.url, running));
  }
  return results;
}

/**
 * Opens the streams at the sources and reads what is in use after a garbage collection. Null where
 * the system has no signal for it.
 */
export async function measureStreamsInUse(
  servers: ServerProcesses,
  programs: Programs,
  upstreamCore: number,
  streams = STREAM_COUNT,
): Promise<StreamsInUse | null> {
  if (Deno.build.os !== "linux") return null;
  const upstream = await servers.start("upstream.ts", "", upstreamCore);
  const config = configText("one", `http://127.0.0.1:${upstream.port}`, {}, {
    server: { port: 0 },
  });
  const command = [Deno.execPath(), ...await probedProgram(programs.folder)];
  let probed = Promise.withResolvers<number>();
  await using running = await programs.start({ name: "source", command }, config, (line) => {
    if (line.startsWith(PROBE_MARK)) {
      probed.resolve(JSON.parse(line.slice(PROBE_MARK.length)).live);
    }
  });
  const bytesInUse = () => {
    probed = Promise.withResolvers();
    Deno.kill(running.pid, "SIGUSR2");
    return probed.promise;
  };
  await isDelivered(running.url);
  const before = await bytesInUse();
  const open = await Promise.all(Array.from({ length: streams }, () => request(running.url)));
  const bytesPerStream = (await bytesInUse() - before) / streams;
  await Promise.all(open.map((response) => response.body?.cancel()));
  return { streams, bytesPerStream };
}

async function measure(
  program: StreamsResult["program"],
  url: string,
  running: Pick<RunningProgram, "pid" | "memoryBytes">,
): Promise<StreamsResult> {
  const memory = () => running.memoryBytes() ?? NaN;
  // The first request loads what all requests use.
  await isDelivered(url);
  const idleBytes = memory();
  const before = readMemoryParts(running.pid);
  let atMost = before;
  let maxBytes = idleBytes;
  const sampling = setInterval(() => {
    const now = memory();
    if (now <= maxBytes) return;
    maxBytes = now;
    atMost = readMemoryParts(running.pid);
  }, MEMORY_SAMPLE_INTERVAL_MS);
  const outcomes = await Promise.all(
    Array.from({ length: STREAM_COUNT }, () => isDelivered(url)),
  );
  clearInterval(sampling);
  const delivered = outcomes.filter((one) => one).length;
  const grown = before === null || atMost === null ? null : growthOf(before, atMost);
  return { program, streams: STREAM_COUNT, delivered, idleBytes, maxBytes, grown };
}

function growthOf(before: MemoryParts, after: MemoryParts): MemoryParts {
  const parts = MEMORY_PARTS.map((part) => [part, after[part] - before[part]]);
  return Object.fromEntries(parts);
}

/** True if the response to one request is a complete stream. */
async function isDelivered(url: string): Promise<boolean> {
  const response = await request(url);
  const text = await response.text();
  return response.status === 200 && findBodyError(text, expectedRecords(BODY)) === null;
}

const BODY = chatRequest("sse-slow", 1_000);

/** Opens a slow stream. */
export function request(url: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, { method: "POST", body: BODY });
}

/** Returns a report line with the memory in use of the streams. */
export function streamsInUseLine({ streams, bytesPerStream }: StreamsInUse): string {
  return `streams ${"source, in use".padEnd(19)} ${
    (bytesPerStream / 1000).toFixed(0)
  } kB of objects and ` +
    `buffers for each of ${streams}, after a garbage collection`;
}

/** Returns a report line with the growth of the parts of the memory. */
export function streamsPartsLine(program: StreamsResult["program"], grown: MemoryParts): string {
  return `streams ${`${program}, parts`.padEnd(19)} ${partsText(grown, 1024 * 1024, "MiB")}`;
}

/** Returns a report line with the memory of the streams above the idle memory. */
export function streamsLine(result: StreamsResult): string {
  const { program, streams, delivered, idleBytes, maxBytes } = result;
  const above = maxBytes - idleBytes;
  const [idle, most] = [idleBytes, above].map((bytes) => `${(bytes / 1024 / 1024).toFixed(0)} MiB`);
  const figures = `streams ${
    program.padEnd(19)
  } ${delivered} of ${streams} delivered; idle ${idle}, open +${most}`;
  if (program === "floor" || program === "provider") return figures;
  const missed = above <= MAX_STREAMS_BYTES && delivered === streams ? "" : " missed";
  return `${figures}  <= +${MAX_STREAMS_BYTES / 1024 / 1024} MiB${missed}`;
}
