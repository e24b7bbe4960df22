import { cpuUsage } from "node:process";
import { CHAT, type Cores, startCompared } from "./compared.ts";
import { encodePost } from "./http_client.ts";
import { chatRequest, PACED_PIECE_COUNT, PACED_PIECE_MARK } from "./payloads.ts";
import type { ServerProcesses } from "./processes.ts";
import { quantile } from "./report.ts";

/** Lateness of the pieces of many streams at the same time. */
export interface PiecesResult {
  readonly system: "provider" | "floor" | "gateway";
  readonly streams: number;
  /** Milliseconds from the write of each piece at the provider to its arrival, ascending. */
  readonly lateMs: readonly number[];
  /**
   * Processor time of a piece in microseconds: in the system, 0 for the provider itself, and in the
   * provider and the load on the other core; null where the system does not report it.
   */
  readonly cpuUs: { readonly system: number; readonly others: number } | null;
}

const STREAM_COUNT = 512;

/** Time after which a piece is late. */
export const MAX_LATE_MS = 50;

/** Streams begin in groups within one second, so that their pieces are spread. */
const GROUP_COUNT = 64, GROUP_PAUSE_MS = 15;

/** The first rounds of a system are its warm-up. */
const ROUND_COUNT = 5, WARM_UP_COUNT = 3;

/** Opens the streams at the provider itself, at the floor and at the gateway, in turns. */
export async function measurePieces(
  servers: ServerProcesses,
  cores: Cores,
): Promise<readonly PiecesResult[]> {
  const { upstream, floor, gateway } = await startCompared(servers, cores);
  const systems = ([["provider", upstream], ["floor", floor], ["gateway", gateway]] as const)
    .map(([system, server]) => ({ system, server, late: [] as number[], cpuMs: 0, othersMs: 0 }));
  for (let round = 0; round < ROUND_COUNT; round++) {
    for (const each of systems) {
      const { server } = each;
      const measuredMs = () => server === upstream ? 0 : server.cpuMs() ?? NaN;
      const othersMs = () => (upstream.cpuMs() ?? NaN) + ownCpuMs();
      const [measured, others] = [measuredMs(), othersMs()];
      const times = await openAll(each.system, server.port);
      if (round < WARM_UP_COUNT) continue;
      each.late.push(...times);
      each.cpuMs += measuredMs() - measured;
      each.othersMs += othersMs() - others;
    }
  }
  return systems.map(({ system, late, cpuMs, othersMs }) => ({
    system,
    streams: STREAM_COUNT,
    lateMs: late.toSorted((a, b) => a - b),
    cpuUs: Number.isNaN(cpuMs + othersMs)
      ? null
      : { system: cpuMs * 1000 / late.length, others: othersMs * 1000 / late.length },
  }));
}

/** Returns the processor time of this process in milliseconds. */
function ownCpuMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

async function openAll(system: string, port: number): Promise<readonly number[]> {
  const late: number[] = [];
  const reading: Promise<void>[] = [];
  const connections = await Promise.all(
    Array.from({ length: STREAM_COUNT }, () => Deno.connect({ hostname: "127.0.0.1", port })),
  );
  for (const [at, connection] of connections.entries()) {
    reading.push(readStream(system, connection, late));
    const isGroup = (at + 1) % (STREAM_COUNT / GROUP_COUNT) === 0;
    if (isGroup) await new Promise((resolve) => setTimeout(resolve, GROUP_PAUSE_MS));
  }
  await Promise.all(reading);
  return late;
}

const REQUEST = encodePost(CHAT, chatRequest("sse-paced", 1_000), {});
const decoder = new TextDecoder();

/** Returns a text without the sizes of chunks between their line ends: JSON has none. */
export function withoutChunkHeads(text: string): string {
  return text.replaceAll(/\r\n[0-9a-f]+\r\n/gi, "");
}

/** Reads one stream to its end and adds the lateness of its pieces. */
async function readStream(
  system: string,
  connection: Deno.TcpConn,
  late: number[],
): Promise<void> {
  using _open = connection;
  await connection.write(REQUEST);
  const buffer = new Uint8Array(16 * 1024);
  let text = "";
  let pieces = 0;
  while (!text.includes("data: [DONE]")) {
    const count = await connection.read(buffer);
    if (count === null) throw new Error(`pieces: ${system} ends early: ${text.slice(-200)}`);
    const now = performance.timeOrigin + performance.now();
    // A chunk may begin within a piece.
    text = withoutChunkHeads(text + decoder.decode(buffer.subarray(0, count)));
    for (const [sentAt, end] of piecesIn(text)) {
      late.push(now - sentAt);
      pieces++;
      text = text.slice(end);
    }
  }
  if (pieces !== PACED_PIECE_COUNT) throw new Error(`pieces: ${system} has sent ${pieces} of them`);
}

/**
 * Returns the times at which the pieces in a text were written, each with its end behind that of
 * the piece before it.
 */
export function piecesIn(text: string): readonly (readonly [sentAt: number, end: number])[] {
  let from = 0;
  return [...text.matchAll(new RegExp(`"${PACED_PIECE_MARK}([\\d.]+)"`, "g"))].map((match) => {
    const end = match.index + match[0].length - from;
    from += end;
    return [Number(match[1]), end];
  });
}

/** Returns the report line of a system. */
export function piecesLine({ system, streams, lateMs, cpuUs }: PiecesResult): string {
  const late = lateMs.filter((ms) => ms > MAX_LATE_MS).length;
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) =>
    `${quantile(lateMs, share).toFixed(1)} ms`
  );
  const missed = late === 0 || system !== "gateway" ? "" : " missed";
  const [own, others] = [cpuUs?.system, cpuUs?.others].map((us) => us?.toFixed(0) ?? "-");
  return `pieces ${
    system.padEnd(20)
  } ${streams} streams: p50 ${p50}, p99 ${p99}, at most ${most}; ` +
    `CPU of a piece ${own} µs, of provider and load ${others} µs; ` +
    `${late} of ${lateMs.length} later than ${MAX_LATE_MS} ms${missed}`;
}
